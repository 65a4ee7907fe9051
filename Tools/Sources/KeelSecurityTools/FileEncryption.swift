package import Foundation
package import KeelSecurity
internal import KeelToolSupport

/// Encrypts and decrypts whole files with the keys of a keyset, in bounded memory.
///
/// The result appears under its name when it is complete and authenticated, and never in the place
/// of something.
package struct FileEncryption: Sendable {
    /// What to do with a file.
    package enum Direction: Sendable {
        case encrypt
        case decrypt
    }

    /// How many bytes are read at a time.
    private static let pieceByteCount = 1 << 20

    private let streams: StreamingEncryption
    private let associatedData: Data

    /// Prepares for a keyset.
    ///
    /// - Parameters:
    ///   - keyset: Keys for streams.
    ///   - associatedData: What the files belong to.
    /// - Throws: Where the keyset is for values.
    package init(keyset: Keyset, associatedData: Data) throws {
        streams = try StreamingEncryption(keyset: keyset)
        self.associatedData = associatedData
    }

    /// Writes the other form of a file.
    ///
    /// - Parameters:
    ///   - direction: What to do.
    ///   - source: The file to read, which stays as it is.
    ///   - target: The file to write, which must not be there.
    ///   - progress: Is told how many bytes were read.
    /// - Returns: How many bytes were written.
    /// - Throws: An error, with nothing left of the target.
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

    /// Writes a file anew with the primary key, in its own place.
    ///
    /// - Parameters:
    ///   - file: An encrypted file.
    ///   - progress: Is told how many bytes were read.
    /// - Throws: An error, with the file as it was.
    package func reencrypt(_ file: URL, progress: (Int) -> Void = { _ in }) throws {
        var decryptor = streams.decryptor(associatedData: associatedData)
        let encryptor = try streams.encryptor(associatedData: associatedData)
        // Where the name is a link, the file that it leads to is written anew.
        let file = file.resolvingSymlinksInPath()
        _ = try rewrite(file, as: file, isNew: false, progress) { piece in
            if let piece { return try encryptor.update(try decryptor.update(piece)) }
            return try encryptor.update(try decryptor.finish()) + encryptor.finish()
        }
    }

    // MARK: Parts

    /// Passes a file through a transformation, which gets nil at the end.
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
                advice: "Name a file that exists and that you may read."
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
                // Who is cancelled, by Control-C for example, leaves nothing either.
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
                "“\(target.path)” is there already",
                advice: "Name another file with --output, or move this one away."
            )
        }
    }
}
