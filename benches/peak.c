/* Runs a program and writes the most memory that it had in use, in KiB: `peak OUT PROGRAM [ARGUMENT]...`
   The kernel's figure for a child that has ended cannot be read: it never falls below what the parent had when it started the
   child. So the program is stopped where it exits and asked then. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_stop(int status, int event) { return status >> 8 == (SIGTRAP | event << 8); }

static void note(pid_t program, const char *out) {
    char name[64], line[256];
    long kib;
    snprintf(name, sizeof name, "/proc/%d/status", (int)program);
    FILE *from = fopen(name, "r"), *to = fopen(out, "w");
    while (from && to && fgets(line, sizeof line, from))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) fprintf(to, "%ld\n", kib);
    if (from) fclose(from);
    if (to) fclose(to);
}

int main(int count, char **args) {
    int status;
    if (count < 3) return 2;
    pid_t program = fork();
    if (program < 0) return 2;
    if (program == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 && raise(SIGSTOP) == 0) execv(args[2], args + 2);
        _exit(127);
    }
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return 2;
    ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, program, 0, 0);
    while (waitpid(program, &status, 0) == program) {
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        if (WIFSIGNALED(status)) return 2;
        int ours = is_stop(status, PTRACE_EVENT_EXEC);
        if (is_stop(status, PTRACE_EVENT_EXIT)) {
            note(program, args[1]);
            ours = 1;
        }
        ptrace(PTRACE_CONT, program, 0, ours ? 0 : WSTOPSIG(status));
    }
    return 2;
}
