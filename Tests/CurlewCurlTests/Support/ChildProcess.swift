// SPDX-License-Identifier: MIT

/// Children of the test process: forked copies of it, and programs that inherit what is not protected from that.
enum ChildProcess {
    /// Runs `work` in a forked child and says what it returned; nil if the child crashed or hung.
    ///
    /// Only the calling thread exists there, so `work` may use nothing that waits for another one. For exit tests,
    /// whose process does nothing else: a lock that another thread holds at the fork stays locked forever.
    ///
    /// Tries three times: a lock of Swift's runtime may be held at that moment, and such a child hangs.
    static func fork(_ work: () -> Bool) -> Bool? {
        for _ in 0..<3 {
            if let result = forkOnce(work) { return result }
        }
        return nil
    }

    private static func forkOnce(_ work: () -> Bool) -> Bool? {
        // Swift does not import it.
        guard let symbol = dlsym(nil, "fork") else { return nil }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        if child == 0 {
            // The threads of tasks block this signal, and the child has it from them.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGALRM)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            alarm(10)
            _exit(work() ? 0 : 1)
        }
        var status: Int32 = 0
        guard child > 0, waitpid(child, &status, 0) == child, status & 0x7F == 0 else { return nil }
        return status >> 8 == 0
    }

    /// Lets this process open `count` more descriptors at a time.
    static func limitDescriptors(further count: Int) {
        // One more, which is the first that is no longer free. A limit of 0 would also forbid to poll descriptors.
        let free = (0...count).map { _ in dup(STDERR_FILENO) }
        defer { free.forEach { close($0) } }
        // There may be fewer already.
        guard free[count] >= 0 else { return }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = rlim_t(free[count])
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The descriptors that a started program has besides its own, as `socket:[123]` and the like.
    static func inheritedDescriptors(output path: String) throws -> [String] {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var child = pid_t()
        // The shell's own process: `$$` stays its number in the substitution.
        let script = "for entry in /proc/$$/fd/*; do readlink $entry; done"
        let words = ["sh", "-c", script]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        let code = posix_spawn(&child, "/bin/sh", &actions, nil, &arguments, environ)
        guard code == 0 else { throw Program.Failure(description: "posix_spawn failed (errno \(code))") }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }
}

/// Runs tasks on the thread that makes them, up to the first time they wait for another one.
final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
