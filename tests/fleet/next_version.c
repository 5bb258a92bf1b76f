/* eenet_next: the program as a later version would be, for the test of rolling upgrades. The linker calls this in place
 * of ee_version. */
const char *__wrap_ee_version(void);

const char *__wrap_ee_version(void)
{
    return "99.0.0";
}
