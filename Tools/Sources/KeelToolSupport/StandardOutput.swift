package import Foundation

package enum StandardOutput {
    /// Writes bytes.
    ///
    /// If the reader has closed its end, such as `head`, SIGPIPE ends the process, which shells report as 141, even if
    /// a library ignores the signal.
    ///
    /// - Throws: ``ToolError`` if the output is full or cannot be written.
    package static func write(_ bytes: some DataProtocol) throws {
        try write(bytes, to: STDOUT_FILENO, named: "standard output")
    }

    /// Keeps files and connections from getting the numbers of closed standard streams, and what is written to them.
    ///
    /// The streams stay unusable: reading from standard input fails, as does writing to the others.
    package static func reserveClosedStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one, and a program that takes the place of keel does not get it.
            let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
            _ = open("/dev/null", access | O_CLOEXEC)
        }
    }

    static func write(
        _ bytes: some DataProtocol,
        to descriptor: Int32,
        named name: String
    ) throws {
        for region in bytes.regions {
            var (done, problem) = (0, Int32(0))
            region.withUnsafeBytes { buffer in
                while done < buffer.count, problem == 0 {
                    let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                    let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                    if count >= 0 { done += count } else { problem = wait(for: descriptor) }
                }
            }
            if problem != 0 { throw error(problem, name) }
        }
    }

    /// Waits after a failed write; returns the number of the error, or 0 if the write can be repeated.
    private static func wait(for descriptor: Int32) -> Int32 {
        let problem = errno
        if problem == EPIPE { endByBrokenPipe() }
        if problem == EAGAIN || problem == EWOULDBLOCK {
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&state, 1, -1)
            return 0
        }
        return problem == EINTR ? 0 : problem
    }

    private static func endByBrokenPipe() -> Never {
        TemporaryFolders.removeAll()
        signal(SIGPIPE, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)
    }

    private static func error(_ problem: Int32, _ name: String) -> ToolError {
        let reason = String(cString: strerror(problem))
        guard [ENOSPC, EDQUOT, EFBIG].contains(problem) else {
            return ToolError(
                "\(name) cannot be written: \(reason)",
                advice: "Send the output to another place."
            )
        }
        return ToolError(
            "\(name) is full: \(reason)",
            advice: "Make room, or send the output to another place."
        )
    }
}
