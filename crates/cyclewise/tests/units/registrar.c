/* Exports cw_unit_register, as a program with libcyclewise does: it calls what the test sets. */

struct cw_unit;
int (*registrar)(struct cw_unit *);
int cw_unit_register(struct cw_unit *unit);

int cw_unit_register(struct cw_unit *unit)
{
    return registrar ? registrar(unit) : 0;
}
