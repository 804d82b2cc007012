#include "shared.hpp"
extern "C" uint64_t from_a(counts *c) { return inlined(*c) + adder<uint64_t, 3>::twice(*c) + dropped(*c) + tested(); }
CW_KEY_DEFINE_FALSE(linked_key);
