#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Pipes, devices and sockets where a file is needed.
package enum SpecialFile {
    /// Refuses to read a pipe, a device or a socket.
    ///
    /// - Throws: ``ToolError`` with the advice to redirect standard input.
    package static func refuseReading(_ path: String) throws {
        guard isThere(at: path) else { return }
        throw ToolError(
            "“\(path)” is a pipe or a device, not a file",
            advice: "Type - in its place, and redirect it to standard input: < \(path.shellWord)"
        )
    }

    /// Refuses to replace a pipe, a device or a socket, such as `/dev/null` or `/dev/stdout`.
    ///
    /// - Throws: ``ToolError`` with `advice`, or with the advice to redirect standard output.
    package static func refuseWriting(_ path: String, advice: String? = nil) throws {
        // Links of the system, which can lead to a file.
        let isStream = path.hasPrefix("/dev/std") || path.hasPrefix("/dev/fd/")
        guard isStream || isThere(at: path) else { return }
        throw ToolError(
            "“\(path)” is a pipe or a device, not a file",
            advice: advice
                ?? "Type - in its place, and redirect standard output: > \(path.shellWord)"
        )
    }

    private static func isThere(at path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        let kind = status.st_mode & S_IFMT
        return kind != S_IFREG && kind != S_IFDIR
    }
}
