/* Functions with sites: each kind of operation, on each kind of address. The tests look at the machine code. */
#include <cyclewise/atomic.h>
#include <stdbool.h>

#if defined(__cplusplus)
extern "C" {
#define LOCAL thread_local
#else
#define LOCAL _Thread_local
#endif

extern int gone(void *);

struct node {
    long first;
    uint32_t count;
    cw_refcount_t refs;
    uint64_t wide;
    uint8_t bytes[16];
};

static uint32_t global;
static LOCAL uint32_t local;
LOCAL uint64_t other_local;

#define OF(name, type, parameters, expression) \
    type name parameters;                      \
    type name parameters { expression; }
#define WORD(w, type)                                                                                              \
    OF(add_##w, void, (type *p, type v), cw_add_##w(p, v))                                                         \
    OF(add_constant_##w, void, (type *p), cw_add_##w(p, 100))                                                      \
    OF(inc_##w, void, (type *p), cw_inc_##w(p))                                                                    \
    OF(xadd_##w, type, (type *p, type v), return cw_fetch_add_##w(p, v))                                           \
    OF(or_##w, void, (type *p, type v), cw_or_##w(p, v))                                                           \
    OF(fetch_or_##w, type, (type *p, type v), return cw_fetch_or_##w(p, v))                                        \
    OF(negative_##w, bool, (type *p, type v), return cw_add_negative_##w(p, v))                                    \
    OF(test_##w, int, (type *p), return cw_dec_and_test_##w(p) ? gone(p) : 2)                                      \
    OF(compare_##w, int, (type *p), return cw_fetch_inc_cmp_##w(p))                                                \
    OF(cmpxchg_##w, type, (type *p, type a, type b), return cw_cmpxchg_##w(p, a, b))                               \
    OF(try_##w, bool, (type *p, type a, type b), return cw_try_cmpxchg_##w(p, &a, b))

WORD(u8, uint8_t)
WORD(u16, uint16_t)
WORD(u32, uint32_t)
WORD(u64, uint64_t)
WORD(usize, size_t)

OF(on_global, void, (void), cw_inc_u32(&global))
OF(on_local, void, (void), cw_inc_u32(&local))
OF(on_other_local, uint64_t, (void), return cw_fetch_add_u64(&other_local, 3))
OF(on_field, void, (struct node *n), cw_dec_u32(&n->count))
OF(on_element, void, (struct node *n, int i), cw_inc_u8(&n[i].bytes[i]))
OF(on_stack, uint64_t, (uint64_t v), uint64_t word = v; cw_add_u64(&word, 1); return word)
OF(set_bit, bool, (uint64_t *p, unsigned n), return cw_test_and_set_bit_u64(p, n))
OF(clear_bit_3, bool, (uint64_t *p), return cw_test_and_clear_bit_u64(p, 3))
OF(cmpxchg_ptr, void *, (void **p, void *a, void *b), return cw_cmpxchg_ptr(p, a, b))

OF(refcount_inc, void, (cw_refcount_t *r), cw_refcount_inc(r))
OF(refcount_dec, void, (cw_refcount_t *r), cw_refcount_dec(r))
OF(refcount_add, void, (cw_refcount_t *r, uint32_t n), cw_refcount_add(r, n))
OF(refcount_dec_and_test, bool, (cw_refcount_t *r), return cw_refcount_dec_and_test(r))
OF(refcount_dec_and_test_branch, int, (cw_refcount_t *r), return cw_refcount_dec_and_test(r) ? gone(r) : 0)
OF(refcount_put_field, int, (struct node *n), return cw_refcount_dec_and_test(&n->refs) ? gone(n) : 0)
OF(refcount_inc_not_zero, bool, (cw_refcount_t *r), return cw_refcount_inc_not_zero(r))
OF(refcount_dec_not_one, bool, (cw_refcount_t *r), return cw_refcount_dec_not_one(r))
OF(refcount64_inc, void, (cw_refcount64_t *r), cw_refcount64_inc(r))
OF(refcount64_sub, bool, (cw_refcount64_t *r), return cw_refcount64_sub_and_test(r, 3))

/* Copies that the compiler makes of one site. */
void unrolled(uint64_t *p);
void unrolled(uint64_t *p) {
    int i;
    for (i = 0; i < 4; i++)
        cw_inc_u64(p + i);
}

#if defined(__cplusplus)
}
#endif
