// The key, for a shared object without the unit that has it elsewhere.
#include "shared.hpp"
CW_KEY_DEFINE_FALSE(linked_key);
