package import Foundation

package enum StandardOutput {
    /// Writes bytes.
    ///
    /// If the reader has closed its end, such as `head`, SIGPIPE ends the process, which shells report as 141, even if
    /// a library ignores the signal.
    ///
    /// - Throws: ``ToolError`` if the output is full or cannot be written; `CancellationError` if the task is canceled
    ///   while the reader reads nothing.
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
        let most = mostBytesAtOnce(to: descriptor)
        for region in bytes.regions {
            try region.withUnsafeBytes { buffer in
                var done = 0
                while done < buffer.count {
                    // Unlike writing, the wait ends at an interruption.
                    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    while poll(&state, 1, 100) <= 0 { try Task.checkCancellation() }
                    let rest = UnsafeRawBufferPointer(rebasing: buffer[done...].prefix(most))
                    let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                    guard count < 0 else {
                        done += count
                        continue
                    }
                    let problem = errno
                    if problem == EPIPE { endByBrokenPipe() }
                    guard [EINTR, EAGAIN, EWOULDBLOCK].contains(problem) else {
                        throw error(problem, name)
                    }
                }
            }
        }
    }

    /// Returns the number of bytes that do not block a descriptor that accepts any.
    private static func mostBytesAtOnce(to descriptor: Int32) -> Int {
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return isFile ? .max : Int(PIPE_BUF)
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
