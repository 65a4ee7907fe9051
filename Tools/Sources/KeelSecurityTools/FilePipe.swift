package import Foundation
internal import KeelToolSupport

/// Bytes that pass from a file or standard input to a file or standard output, in bounded memory.
///
/// A file, which only its owner may read unless it replaces another, gets its name when it is complete. Standard output
/// receives each piece when it is ready.
package struct FilePipe: Sendable {
    package enum End: Sendable, Hashable {
        case standard
        case file(URL)

        /// Parses a path, or `-`.
        package init(_ text: String) { self = text == "-" ? .standard : .file(URL(filePath: text)) }
    }

    private static let pieceByteCount = 1 << 20

    package let source: End
    package let target: End
    private let replaces: Bool

    /// Creates a pipe; a target file must not exist, unless the pipe `replaces` it.
    package init(from source: End, to target: End, replaces: Bool = false) {
        self.source = source
        self.target = target
        self.replaces = replaces
    }

    /// Throws the error of ``run(progress:_:)`` if the source cannot be read, or if the target exists and is not
    /// replaced.
    package func check() throws {
        // A named pipe must not be opened twice.
        if case .file(let url) = source, access(url.path, R_OK) != 0 {
            throw Input.unreadable("“\(url.path)”")
        }
        if case .file(let file) = target, !replaces { try refuseExisting(file) }
    }

    /// Passes the bytes through a transformation, which receives nil at the end; returns the number of bytes written.
    ///
    /// - Throws: An error, also if a file to be replaced was changed meanwhile; a target file is then as it was before.
    package func run(
        progress: (Int) -> Void = { _ in },
        _ transform: (Data?) async throws -> Data
    ) async throws -> Int {
        var before: FileState?
        if replaces, case .file(let file) = target { before = try? FileState(file.path) }
        let input = try Input(source)
        defer { input.close() }
        guard case .file(let file) = target else {
            return try await Self.copy(input, progress, transform) { piece in
                try StandardOutput.write(piece)
            }
        }
        if !replaces { try refuseExisting(file) }
        var output = try ReplacedFile(file, isPrivate: true)
        do {
            let count = try await Self.copy(input, progress, transform) { try output.append($0) }
            guard replaces else {
                try output.finishNew()
                return count
            }
            guard (try? FileState(file.path)) == before else {
                throw ToolError(
                    "“\(file.path)” was changed by another program meanwhile, and stays as it is",
                    advice: "Run the command again for this file."
                )
            }
            try output.finish()
            return count
        } catch {
            output.discard()
            throw error
        }
    }

    // MARK: Parts

    private static func copy(
        _ input: Input,
        _ progress: (Int) -> Void,
        _ transform: (Data?) async throws -> Data,
        _ write: (Data) throws -> Void
    ) async throws -> Int {
        var (read, written) = (0, 0)
        while let piece = try input.read(upTo: pieceByteCount) {
            let result = try await transform(piece)
            try write(result)
            read += piece.count
            written += result.count
            progress(read)
            // Canceling, for example with Control-C, leaves no target either.
            try Task.checkCancellation()
        }
        try Task.checkCancellation()
        let rest = try await transform(nil)
        try write(rest)
        return written + rest.count
    }

    private func refuseExisting(_ target: URL) throws {
        try SpecialFile.refuseWriting(target.path)
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw ToolError(
                "“\(target.path)” already exists",
                advice: "Give another file with --output, or move this one."
            )
        }
    }

    /// A descriptor whose waits end when the task is canceled.
    private struct Input {
        private let descriptor: Int32
        private let name: String

        init(_ end: End) throws {
            switch end {
            case .standard: (descriptor, name) = (STDIN_FILENO, "standard input")
            case .file(let url):
                name = "“\(url.path)”"
                descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw Self.unreadable(name) }
            }
        }

        func read(upTo count: Int) throws -> Data? {
            // A pipe may bring nothing for long, and a signal must end the wait.
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&state, 1, 200) == 0 { try Task.checkCancellation() }
            var data = Data(count: count)
            let got = data.withUnsafeMutableBytes { bytes in
                var got = Foundation.read(descriptor, bytes.baseAddress, count)
                while got < 0, errno == EINTR {
                    got = Foundation.read(descriptor, bytes.baseAddress, count)
                }
                return got
            }
            guard got >= 0 else { throw Self.unreadable(name) }
            return got == 0 ? nil : got == count ? data : Data(data.prefix(got))
        }

        func close() { if descriptor != STDIN_FILENO { _ = Foundation.close(descriptor) } }

        static func unreadable(_ name: String) -> ToolError {
            ToolError(
                "\(name) cannot be read: \(String(cString: strerror(errno)))",
                advice: "Give a file that exists and that you may read."
            )
        }
    }
}
