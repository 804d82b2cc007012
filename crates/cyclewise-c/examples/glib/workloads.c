/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fixed amounts of work on GLib's public interface, one a name. A program that runs in one thread, as most that use GLib do
 * most of the time.
 *
 *     workloads NAME [TIMES]      prints nothing; exits with 0
 *     workloads --list            a name a line
 */
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 1000 };

static GObject *objects[OBJECTS];

/* Takes and drops a reference on each of many objects. */
static void ref_unref(void) {
    for (int i = 0; i < OBJECTS; i++)
        g_object_ref(objects[i]);
    for (int i = 0; i < OBJECTS; i++)
        g_object_unref(objects[i]);
}

/* Makes and frees objects without properties. */
static void create(void) {
    for (int i = 0; i < OBJECTS; i++)
        g_object_unref(g_object_new(G_TYPE_OBJECT, NULL));
}

/* Passes objects through a list model, as a list view does: each position is read by reference. */
static void list_store(void) {
    GListStore *store = g_list_store_new(G_TYPE_OBJECT);
    for (int i = 0; i < OBJECTS; i++)
        g_list_store_append(store, objects[i]);
    for (guint i = 0; i < OBJECTS; i++)
        g_object_unref(g_list_model_get_item(G_LIST_MODEL(store), i));
    g_object_unref(store);
}

/* Puts objects into values and takes them out, as properties and closures do. */
static void values(void) {
    GValue value = G_VALUE_INIT, copy = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_OBJECT);
    g_value_init(&copy, G_TYPE_OBJECT);
    for (int i = 0; i < OBJECTS; i++) {
        g_value_set_object(&value, objects[i]);
        g_value_copy(&value, &copy);
        g_object_unref(g_value_dup_object(&copy));
    }
    g_value_unset(&copy);
    g_value_unset(&value);
}

static void count_calls(GObject *object, GParamSpec *property, gpointer calls) {
    (void)object;
    (void)property;
    ++*(int *)calls;
}

/* Emits a signal with one handler. */
static void signals(void) {
    static int calls;
    GObject *action = G_OBJECT(g_simple_action_new("action", NULL));
    g_signal_connect(action, "notify::enabled", G_CALLBACK(count_calls), &calls);
    for (int i = 0; i < OBJECTS; i++)
        g_object_notify(action, "enabled");
    g_object_unref(action);
}

/* Builds a tree of variants, and reads all of it. */
static void variants(void) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a{sv}"));
    for (int i = 0; i < 100; i++) {
        char key[16];
        g_snprintf(key, sizeof key, "%d", i);
        g_variant_builder_add(&builder, "{sv}", key, g_variant_new_int32(i));
    }
    GVariant *all = g_variant_ref_sink(g_variant_builder_end(&builder));
    GVariantIter iter;
    const char *key;
    GVariant *value;
    g_variant_iter_init(&iter, all);
    while (g_variant_iter_loop(&iter, "{&sv}", &key, &value))
        if (g_variant_get_int32(value) != atoi(key))
            abort();
    g_variant_unref(all);
}

/* Slices shared bytes, and drops the slices. */
static void bytes(void) {
    GBytes *all = g_bytes_new_static("0123456789abcdef", 16);
    GBytes *slices[16];
    for (int round = 0; round < 60; round++) {
        for (gsize i = 0; i < 16; i++)
            slices[i] = g_bytes_new_from_bytes(all, i, 1);
        for (int i = 0; i < 16; i++)
            g_bytes_unref(slices[i]);
    }
    g_bytes_unref(all);
}

static gboolean once(gpointer left) { return --*(int *)left > 0; }

/* Runs an idle source of a main loop. */
static void main_loop(void) {
    static int left;
    left = OBJECTS / 4;
    GMainContext *context = g_main_context_new();
    GSource *source = g_idle_source_new();
    g_source_set_callback(source, once, &left, NULL);
    g_source_attach(source, context);
    while (left > 0)
        g_main_context_iteration(context, FALSE);
    g_source_unref(source);
    g_main_context_unref(context);
}

/* Fills a hash table and empties it: no counts but the table's own. */
static void hash_table(void) {
    GHashTable *table = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (int i = 0; i < OBJECTS; i++)
        g_hash_table_insert(table, objects[i], objects[i]);
    g_hash_table_unref(table);
}

static const struct {
    const char *name;
    void (*run)(void);
    int times;
} WORKLOADS[] = {
    {"ref-unref", ref_unref, 20000}, {"create", create, 2500},     {"list-store", list_store, 700},
    {"values", values, 2500},        {"signals", signals, 1200},   {"variants", variants, 6000},
    {"bytes", bytes, 4000},          {"main-loop", main_loop, 3000}, {"hash-table", hash_table, 12000},
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < G_N_ELEMENTS(WORKLOADS); i++) {
        if (argc == 2 && strcmp(argv[1], "--list") == 0)
            puts(WORKLOADS[i].name);
        if (argc < 2 || strcmp(argv[1], WORKLOADS[i].name) != 0)
            continue;
        for (int o = 0; o < OBJECTS; o++)
            objects[o] = g_object_new(G_TYPE_OBJECT, NULL);
        for (int times = argc > 2 ? atoi(argv[2]) : WORKLOADS[i].times; times > 0; times--)
            WORKLOADS[i].run();
        for (int o = 0; o < OBJECTS; o++)
            g_object_unref(objects[o]);
        return 0;
    }
    return argc == 2 && strcmp(argv[1], "--list") == 0 ? 0 : 2;
}
