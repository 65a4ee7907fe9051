package import Foundation
package import KeelSecurity
internal import KeelToolSupport

/// Encrypts and decrypts whole files with a keyset, in bounded memory.
///
/// The result gets its name only when complete and authenticated, and never replaces another file.
package struct FileEncryption: Sendable {
    /// The operation on a file.
    package enum Direction: Sendable {
        case encrypt
        case decrypt
    }

    /// The number of bytes per read.
    private static let pieceByteCount = 1 << 20

    private let streams: StreamingEncryption
    private let associatedData: Data

    /// Creates a service for a keyset.
    ///
    /// - Parameters:
    ///   - keyset: A keyset for streams.
    ///   - associatedData: The associated data of the files.
    /// - Throws: An error if the keyset is for values.
    package init(keyset: Keyset, associatedData: Data) throws {
        streams = try StreamingEncryption(keyset: keyset)
        self.associatedData = associatedData
    }

    /// Encrypts or decrypts a file.
    ///
    /// - Parameters:
    ///   - direction: The operation.
    ///   - source: The file to read, which is not changed.
    ///   - target: The file to write, which must not exist.
    ///   - progress: Called with the number of bytes read.
    /// - Returns: The number of bytes written.
    /// - Throws: An error; the target then does not exist.
    @discardableResult
    package func run(
        _ direction: Direction,
        from source: URL,
        to target: URL,
        progress: (Int) -> Void = { _ in }
    ) throws -> Int {
        try refuseExisting(target)
        switch direction {
        case .encrypt:
            let encryptor = try streams.encryptor(associatedData: associatedData)
            return try rewrite(source, as: target, isNew: true, progress) { piece in
                if let piece { return try encryptor.update(piece) }
                return try encryptor.finish()
            }
        case .decrypt:
            var decryptor = streams.decryptor(associatedData: associatedData)
            return try rewrite(source, as: target, isNew: true, progress) { piece in
                if let piece { return try decryptor.update(piece) }
                return try decryptor.finish()
            }
        }
    }

    /// Re-encrypts a file in place with the primary key.
    ///
    /// - Parameters:
    ///   - file: An encrypted file.
    ///   - progress: Called with the number of bytes read.
    /// - Throws: An error; the file is then unchanged.
    package func reencrypt(_ file: URL, progress: (Int) -> Void = { _ in }) throws {
        var decryptor = streams.decryptor(associatedData: associatedData)
        let encryptor = try streams.encryptor(associatedData: associatedData)
        // A link is resolved, so that the file it leads to is re-encrypted.
        let file = file.resolvingSymlinksInPath()
        _ = try rewrite(file, as: file, isNew: false, progress) { piece in
            if let piece { return try encryptor.update(try decryptor.update(piece)) }
            return try encryptor.update(try decryptor.finish()) + encryptor.finish()
        }
    }

    // MARK: Parts

    /// Passes a file through a transformation, which receives nil at the end.
    private func rewrite(
        _ source: URL,
        as target: URL,
        isNew: Bool,
        _ progress: (Int) -> Void,
        _ transform: (Data?) throws -> Data
    ) throws -> Int {
        let input: FileHandle
        do {
            input = try FileHandle(forReadingFrom: source)
        } catch {
            throw ToolError(
                "“\(source.path)” cannot be read",
                advice: "Give a file that exists and that you may read."
            )
        }
        defer { try? input.close() }
        var output = try ReplacedFile(target, isPrivate: true)
        do {
            var (read, written) = (0, 0)
            while let piece = try input.read(upToCount: Self.pieceByteCount), !piece.isEmpty {
                let result = try transform(piece)
                try output.append(result)
                read += piece.count
                written += result.count
                progress(read)
                // Canceling, for example with Control-C, leaves no target either.
                try Task.checkCancellation()
            }
            try Task.checkCancellation()
            let rest = try transform(nil)
            try output.append(rest)
            if isNew { try output.finishNew() } else { try output.finish() }
            return written + rest.count
        } catch {
            output.discard()
            throw error
        }
    }

    private func refuseExisting(_ target: URL) throws {
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw ToolError(
                "“\(target.path)” already exists",
                advice: "Give another file with --output, or move this one."
            )
        }
    }
}
