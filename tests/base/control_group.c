/* Limits of control groups, as both versions of the interface tell them.
 * SPDX-License-Identifier: MIT
 */
#include "base/control_group.h"

#include "base/fs.h"
#include "support.h"

typedef struct {
    char folder[TEST_PATH], list[TEST_PATH + 20];
    heed_groups groups;
} place;

static void put(const place *p, const char *name, const char *text) {
    heed_error err = {0};
    char path[TEST_PATH + 80];
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    heed_make_folder(path, &err);
    *slash = '/';
    heed_write_file(NULL, path, text, strlen(text), &err);
    expect_no_error(&err);
}

static void begin(place *p, const char *list) {
    temp_folder(p->folder);
    snprintf(p->list, sizeof p->list, "%s/list", p->folder);
    p->groups = (heed_groups){p->list, p->folder};
    put(p, "list", list);
}

static void expect_limits(place *p, int64_t memory, int64_t cores) {
    assert_int_equal(heed_group_memory(&p->groups), memory);
    assert_int_equal(heed_group_cores(&p->groups), cores);
}

static void test_none(void **state) {
    (void)state;
    place p;
    begin(&p, "0::/a/b\n");
    expect_limits(&p, -1, -1);
    put(&p, "a/b/memory.max", "max\n");
    put(&p, "a/b/cpu.max", "max 100000\n");
    expect_limits(&p, -1, -1);
    p.groups.list = "nowhere";
    put(&p, "memory.max", "4096\n");
    expect_limits(&p, 4096, -1);
    remove_folder(p.folder);
}

/* A group has at most what those above it have. */
static void test_second_version(void **state) {
    (void)state;
    place p;
    begin(&p, "0::/a/b\n");
    put(&p, "a/b/memory.max", "3000000\n");
    put(&p, "a/b/cpu.max", "350000 100000\n");
    expect_limits(&p, 3000000, 4);
    put(&p, "a/memory.max", "2000000\n");
    put(&p, "a/cpu.max", "200000 100000\n");
    expect_limits(&p, 2000000, 2);
    put(&p, "other/memory.max", "1\n");
    expect_limits(&p, 2000000, 2);
    put(&p, "memory.max", "1000000\n");
    put(&p, "cpu.max", "1 100000\n");
    expect_limits(&p, 1000000, 1);
    remove_folder(p.folder);
}

static void test_first_version(void **state) {
    (void)state;
    place p;
    begin(&p, "9:name=systemd:/x\n4:memory:/m/n\n3:cpuset:/x\n2:cpu,cpuacct:/c\n0::/\n");
    put(&p, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(&p, "cpu/cpu.cfs_quota_us", "-1\n");
    put(&p, "cpu/cpu.cfs_period_us", "100000\n");
    expect_limits(&p, INT64_C(9223372036854771712), -1);
    put(&p, "memory/m/n/memory.limit_in_bytes", "5000000\n");
    put(&p, "cpu/c/cpu.cfs_quota_us", "150000\n");
    put(&p, "cpu/c/cpu.cfs_period_us", "50000\n");
    put(&p, "memory/x/memory.limit_in_bytes", "1\n");
    expect_limits(&p, 5000000, 3);
    remove_folder(p.folder);
}

/* A container may be told a path that it does not see, or one above its own mount. */
static void test_containers(void **state) {
    (void)state;
    place p;
    begin(&p, "4:memory:/docker/abc\n0::/../..\n");
    put(&p, "memory/memory.limit_in_bytes", "7000000\n");
    put(&p, "cpu.max", "500000 100000\n");
    expect_limits(&p, 7000000, 5);
    remove_folder(p.folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none), cmocka_unit_test(test_second_version),
        cmocka_unit_test(test_first_version), cmocka_unit_test(test_containers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
