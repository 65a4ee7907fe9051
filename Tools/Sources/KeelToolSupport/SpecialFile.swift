#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Pipes, devices and sockets where a file is needed.
package enum SpecialFile {
    /// Refuses a path whose contents can be read only once.
    ///
    /// - Throws: ``ToolError`` that says how to read it from standard input.
    package static func refuseReading(_ path: String) throws {
        guard isThere(at: path) else { return }
        throw ToolError(
            "“\(path)” is a pipe or a device, not a file",
            advice: "Type - in its place, and redirect it to standard input: < \(path.shellWord)"
        )
    }

    /// Refuses a path whose name a finished file would take from something else, such as `/dev/null`.
    ///
    /// - Throws: ``ToolError`` that says how to write to it by standard output, or has the advice if the output cannot.
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
