/* A shared object with LOCK sites, a static key, and a descriptor written by hand, as design/library.md describes them.

   Macros leave parts out or break them:
   NAME            the prefix of the exported functions (default: unit)
   ABI, SIZE       the descriptor's version and size (defaults: 1, 96)
   DATA            its section (default: .data.cw_unit)
   STATE           its state at first (default: 0)
   NO_CONSTRUCTOR, NO_DESTRUCTOR
   EXTRA_RECORD    a further record of the table: assembly
   EXTRA_NOTE      a further note: assembly
   NOTE_FLAGS      of the section of notes (default: "a", in a segment)
   START, STOP     the bounds of the table of sites
   SECOND          a second descriptor, whose table begins there
   CREATES_THREADS constructors create threads
   SAYS_LAST       the last destructor calls what the variable `last` holds
   NEEDS           a function of another object, which is called
   CANARY          what the record of the canary leads to (default: none has one): `canary_bytes`, or `canary_copy`, which does not run
   SECOND_TEXT     a section of text without sites, for a segment of its own */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#ifndef NAME
#define NAME unit
#endif
#ifndef ABI
#define ABI 1
#endif
#ifndef SIZE
#define SIZE 96
#endif
#ifndef DATA
#define DATA ".data.cw_unit, \"awG\", @progbits, cw_unit, comdat"
#endif
#ifndef STATE
#define STATE 0
#endif
#ifndef START
#define START "__start_cyclewise_lock_v1"
#endif
#ifndef STOP
#define STOP "__stop_cyclewise_lock_v1"
#endif
#ifndef EXTRA_RECORD
#define EXTRA_RECORD ""
#endif
#ifndef EXTRA_NOTE
#define EXTRA_NOTE ""
#endif

#ifdef CANARY
#define CANARY_RECORD "canary_record"
__asm__(".pushsection .text\n.balign 16\n.type canary, @function\n"
        "canary: .byte 0xf3, 0x0f, 0x1e, 0xfa, 0xb8\ncanary_bytes: .byte 0xf0, 0xf0, 0, 0, 0xc3\n"
        ".balign 16\n.skip 5, 0xcc\ncanary_copy: .byte 0xf0, 0xf0, 0, 0, 0xc3\n.popsection\n"
        ".pushsection .data\n.balign 8\ncanary_record: .quad canary\n.long " CANARY " - ., 0\n.popsection\n");
#else
#define CANARY_RECORD "0"
#endif

#ifndef NOTE_FLAGS
#define NOTE_FLAGS "a"
#endif

#ifdef SECOND_TEXT
__asm__(".pushsection .second_text, \"ax\", @progbits\n.byte 0xc3\n.popsection\n");
#endif

#ifdef SECOND
#define SECOND_NOTE ".long 10, 4, 1\n.asciz \"cyclewise\"\n.balign 4\n.long second - .\n"
#else
#define SECOND_NOTE ""
#endif

#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)
#define FUNCTION(name) GLUE(NAME, name)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

struct cw_unit {
    uint32_t size, abi;
    const int32_t *lock_start, *lock_stop;
    const void *key_start, *key_stop;
    void (*forget)(struct cw_unit *);
    void *cookie;
    int (*adopt)(struct cw_unit *);
    uint64_t state;
    void *text_lock;
    uint64_t reserved;
    void *canary;
};

struct cw_key {
    uint8_t on, default_on;
    uint16_t switched;
    uint32_t users;
    void *cookie;
} __attribute__((aligned(8)));

extern struct cw_unit cw_unit __attribute__((visibility("hidden")));
extern const int32_t __start_cyclewise_lock_v1[] __attribute__((visibility("hidden")));
extern const int32_t __stop_cyclewise_lock_v1[] __attribute__((visibility("hidden")));

__asm__(".comm cyclewise_text_lock_v2, 32, 8\n"
        ".hidden cyclewise_text_lock_v2\n"
        ".hidden __start_cyclewise_lock_v1\n.hidden __stop_cyclewise_lock_v1\n"
        ".hidden __start_cyclewise_key_v2\n.hidden __stop_cyclewise_key_v2\n"
        ".pushsection cyclewise_lock_v1, \"aR\", @progbits\n"
        ".balign 4\n"
        EXTRA_RECORD "\n"
        ".popsection\n"
        ".pushsection " DATA "\n"
        ".balign 8\n"
        ".weak cw_unit\n.hidden cw_unit\n.type cw_unit, @object\n.size cw_unit, 96\n"
        "cw_unit: .long " TEXT(SIZE) ", " TEXT(ABI) "\n"
        ".quad " START ", " STOP "\n"
        ".quad __start_cyclewise_key_v2, __stop_cyclewise_key_v2\n"
        ".quad 0, 0, 0, " TEXT(STATE) ", cyclewise_text_lock_v2, 0, " CANARY_RECORD "\n"
        ".popsection\n"
        ".pushsection .note.cyclewise, \"" NOTE_FLAGS "\", @note\n"
        SECOND_NOTE "\n"
        EXTRA_NOTE "\n"
        ".balign 4\n.long 10, 4, 1\n.asciz \"cyclewise\"\n.balign 4\n.long cw_unit - .\n"
        ".popsection\n");

#ifdef SECOND
/* Another descriptor, with a constructor and a destructor of its own. */
extern struct cw_unit second __attribute__((visibility("hidden")));

__asm__(".pushsection .data.second, \"aw\", @progbits\n.balign 8\n"
        ".hidden second\n.globl second\nsecond: .long 96, 1\n"
        ".quad " SECOND ", __stop_cyclewise_lock_v1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n"
        ".popsection\n");
static void __attribute__((constructor(102))) begin_second(void)
{
    second.state = 1;
}
static void __attribute__((destructor(102))) end_second(void)
{
    uint64_t was = 1;
    if (!__atomic_compare_exchange_n(&second.state, &was, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && was == 2)
        second.forget(&second);
}
#endif

#ifdef CREATES_THREADS
#include <pthread.h>
static void *nothing(void *argument)
{
    return argument;
}
/* Before and after the constructor below. */
static void thread(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, nothing, NULL) == 0)
        pthread_join(id, NULL);
}
static void __attribute__((constructor(101))) first_thread(void)
{
    thread();
}
#endif

/* The weak symbol is found where the program exports it. */
int cw_unit_register(struct cw_unit *) __attribute__((weak));

#ifndef NO_CONSTRUCTOR
static void __attribute__((constructor)) begin(void)
{
    uint64_t was = 0;
    __atomic_compare_exchange_n(&cw_unit.state, &was, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (cw_unit_register)
        cw_unit_register(&cw_unit);
}
#endif

#ifdef CREATES_THREADS
static void __attribute__((constructor)) last_thread(void)
{
    thread();
}
#endif

/* What the destructor does. */
void FUNCTION(end)(void)
{
    uint64_t was = 1;
    if (!__atomic_compare_exchange_n(&cw_unit.state, &was, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && was == 2)
        cw_unit.forget(&cw_unit);
}

#ifndef NO_DESTRUCTOR
static void __attribute__((destructor)) end(void)
{
    FUNCTION(end)();
}
#endif

#define LOCK                                                                                                                       \
    ".pushsection cyclewise_lock_v1, \"aR\", @progbits\n.balign 4\n.long 771f - .\n.popsection\n771: lock "

/* Adds one, by a site. */
void FUNCTION(inc)(long *word)
{
    __asm__ volatile(LOCK "incq %0" : "+m"(*word) : : "memory", "cc");
}

/* Adds one several times, by a site. */
void FUNCTION(load)(long *word, long times)
{
    for (long i = 0; i < times; i++)
        __asm__ volatile(LOCK "incq %0" : "+m"(*word) : : "memory", "cc");
}

/* How many sites there are. */
size_t FUNCTION(sites)(void)
{
    size_t sites = 0;
    for (const int32_t *record = __start_cyclewise_lock_v1; record < __stop_cyclewise_lock_v1; record++)
        sites += *record != 0;
    return sites;
}

/* How many of them hold the byte; those that are far away are not looked at. */
size_t FUNCTION(having)(int byte)
{
    size_t having = 0;
    for (const int32_t *record = __start_cyclewise_lock_v1; record < __stop_cyclewise_lock_v1; record++)
        having += *record != 0 && *record < 1 << 20 && *(volatile uint8_t *)((uintptr_t)record + *record) == byte;
    return having;
}

/* The address of a site, by its number. */
uintptr_t FUNCTION(site)(size_t number)
{
    for (const int32_t *record = __start_cyclewise_lock_v1; record < __stop_cyclewise_lock_v1; record++)
        if (*record != 0 && number-- == 0)
            return (uintptr_t)record + *record;
    return 0;
}

struct cw_unit *FUNCTION(descriptor)(void)
{
    return &cw_unit;
}

static struct cw_key key __attribute__((used));

struct cw_key *FUNCTION(key)(void)
{
    return &key;
}

/* Whether the key is on, by its test. */
int FUNCTION(is_on)(void)
{
    __asm__ goto("3: .p2align 3, 0x2e, 4\n2: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
                 ".pushsection cyclewise_key_v2, \"aR\", @progbits\n.p2align 2\n"
                 ".long 2b - ., %l[on] - ., %c0 - ., 2b - 3b\n.popsection\n"
                 :
                 : "i"(&key)
                 :
                 : on);
    return 0;
on:
    return 1;
}

#ifdef SAYS_LAST
void (*FUNCTION(last))(int);
/* Destructors with smaller numbers run later. */
static void __attribute__((destructor(101))) say_last(void)
{
    if (FUNCTION(last))
        FUNCTION(last)(FUNCTION(having)(0xf0) == FUNCTION(sites)());
}
#endif

#ifdef NEEDS
void NEEDS(long *word);
void FUNCTION(both)(long *word)
{
    FUNCTION(inc)(word);
    NEEDS(word);
}
#endif
