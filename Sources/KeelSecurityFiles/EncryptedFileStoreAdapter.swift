#if Crypto
public import KeelFiles
public import KeelSecurity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An adapter that encrypts what it puts into another store, and decrypts what it reads.
///
/// ```swift
/// let key = try Keyset.make(.aes256GCMHKDF64KB)
/// let adapter = try remote.encrypted(with: StreamingEncryption(keyset: key))
/// let files = FileStore(adapter)
/// ```
///
/// Bytes go through piece by piece, so that neither putting nor reading takes more memory than about
/// a segment. Each byte that is read has been authenticated; a file that is read to its end is known
/// to be whole. A part of a file costs two reads of the store, of its beginning and of the segments
/// that hold the part; a file that was cut off behind the part is not noticed by it.
///
/// Hidden are the bytes of files, and nothing else: paths, sizes, times, content types and
/// attributes are the store's, and stand there to be read. Files have no checksum, because that of
/// the plain bytes would tell which files are the same; a checksum in the options of a call is
/// compared with the plain bytes.
///
/// With ``FileBinding/path`` a file is good at its own path alone. Copying and moving then decrypt
/// and encrypt, and a move puts the file at its target before it removes the old one: a crash
/// between the two leaves both.
///
/// Encrypt outside of a cache, so that the cache holds encrypted files:
/// `remote.cached(in: local).encrypted(with: streams)`.
public struct EncryptedFileStoreAdapter<Upstream: FileStoreAdapter>: FileStoreAdapter {
    let upstream: Upstream
    let streams: StreamingEncryption
    private let headerCount: Int
    private let context: String
    private let binding: FileBinding

    /// Creates the decorator; `adapter.encrypted(with:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The store that keeps the encrypted files.
    ///   - streams: What encrypts. All enabled keys must be of one algorithm, because the size of a
    ///     file is computed from that of the encrypted one.
    ///   - context: What the files belong to; files of another context are refused.
    ///   - binding: Whether a file is good at its own path alone.
    /// - Throws: `FileStoreError` with the code `invalidArgument` for keys of several algorithms.
    public init(
        _ upstream: Upstream,
        with streams: StreamingEncryption,
        context: String = "",
        binding: FileBinding = .path
    ) throws(FileStoreError) {
        guard let headerCount = streams.headerCount else {
            throw FileStoreError(
                .invalidArgument,
                "The enabled keys are of several algorithms; sizes cannot be computed with them."
            )
        }
        self.upstream = upstream
        self.streams = streams
        self.headerCount = headerCount
        self.context = context
        self.binding = binding
    }

    public var capabilities: FileStoreCapabilities { upstream.capabilities }

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        try await upstream.metadata(of: path).map(plain)
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        guard range == .all else { return try await readPart(path, range, version) }
        let reading = try await upstream.read(path, range: .all, ifVersion: version)
        let metadata = plain(reading.metadata)
        return FileReading(
            metadata: metadata,
            range: 0..<metadata.size,
            content: whole(reading.content, path, metadata.size)
        )
    }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        var upstreamOptions = options
        // It is compared with the plain bytes, while they pass.
        upstreamOptions.checksum = nil
        let metadata = try await upstream.write(
            sealed(content, path, options),
            to: path,
            options: upstreamOptions
        )
        return plain(metadata)
    }

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        guard binding == .path, request.source != request.target else {
            return plain(try await upstream.transfer(request))
        }
        let reading = try await read(request.source, range: .all, ifVersion: nil)
        let metadata = try await write(
            reading.content,
            to: request.target,
            options: FileWriteOptions(
                contentType: reading.metadata.contentType,
                attributes: reading.metadata.attributes,
                condition: request.condition
            )
        )
        if request.isMove { try await remove(request, reading.metadata.version) }
        return metadata
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try await upstream.delete(path, if: condition)
    }

    public func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        await upstream.deleteEach(paths)
    }

    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        var page = try await upstream.list(request)
        page.files = page.files.map(plain)
        return page
    }

    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        try await upstream.changes(in: folder)
    }

    // MARK: Parts

    private func readPart(
        _ path: FileStorePath,
        _ range: FileRange,
        _ version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        var attempts = 0
        while true {
            let beginning = try await upstream.read(
                path,
                range: .bytes(0, count: headerCount),
                ifVersion: version
            )
            do throws(FileStoreError) {
                return try await readPart(path, range, beginning)
            } catch {
                // Somebody put the file between the two reads; the next one is as good.
                attempts += 1
                guard error.code == .conditionFailed, version == nil, attempts < 8 else {
                    throw error
                }
            }
        }
    }

    private func readPart(
        _ path: FileStorePath,
        _ range: FileRange,
        _ beginning: FileReading
    ) async throws(FileStoreError) -> FileReading {
        guard streams.plainCount(ofEncrypted: beginning.metadata.size) != nil else {
            throw damaged(path, nil)
        }
        let metadata = plain(beginning.metadata)
        let bytes = try range.resolved(size: metadata.size)
        let header = Data(try await beginning.content.collect(upTo: headerCount))
        guard !bytes.isEmpty else {
            return FileReading(metadata: metadata, range: bytes, content: FileContent([UInt8]()))
        }
        let decryptor: StreamPartDecryptor
        do throws(SecurityError) {
            decryptor = try streams.part(
                bytes,
                of: beginning.metadata.size,
                header: header,
                associatedData: associatedData(path)
            )
        } catch {
            throw damaged(path, error)
        }
        let sealed = decryptor.sealedRange
        let reading = try await upstream.read(
            path,
            range: .bytes(sealed.lowerBound, count: sealed.count),
            ifVersion: metadata.version
        )
        return FileReading(
            metadata: metadata,
            range: bytes,
            content: part(reading.content, path, bytes.count, decryptor)
        )
    }

    // MARK: Moving

    /// Removes what was moved, in the version that is at the target now.
    private func remove(
        _ request: FileTransferRequest,
        _ version: FileVersion
    ) async throws(FileStoreError) {
        do throws(FileStoreError) {
            _ = try await upstream.delete(request.source, if: .version(version))
        } catch  where error.code == .conditionFailed {
            // Put by somebody else after it was read: as if that had come after the move.
        } catch {
            throw FileStoreError(
                .unavailable,
                "“\(request.source)” is at “\(request.target)” too: it could not be removed.",
                cause: error
            )
        }
    }

    // MARK: What is told

    /// What a file is bound to.
    func associatedData(_ path: FileStorePath) -> Data {
        // The context has its length before it, so that no two pairs are the same bytes.
        var text = "keel-file-1:\(context.utf8.count):\(context)"
        if binding == .path { text += path.string }
        return Data(text.utf8)
    }

    private func plain(_ summary: FileSummary) -> FileSummary {
        var summary = summary
        // A size that no encrypted file has: a foreign one, which reading refuses.
        summary.size = streams.plainCount(ofEncrypted: summary.size) ?? 0
        return summary
    }

    private func plain(_ metadata: FileMetadata) -> FileMetadata {
        var metadata = metadata
        metadata.summary = plain(metadata.summary)
        metadata.checksum = nil
        return metadata
    }
}

/// What an encrypted file is good for.
public enum FileBinding: Hashable, Sendable, CaseIterable {
    /// For its own path: a file that somebody who can write to the store has put in the place of
    /// another is refused. Copying and moving encrypt anew.
    case path
    /// For every path of its context: copying and moving are the store's own, and somebody who can
    /// write to the store can put one file in the place of another.
    case context
}

extension FileStoreAdapter {
    /// Encrypts files; see ``EncryptedFileStoreAdapter``.
    ///
    /// - Parameters:
    ///   - streams: What encrypts; all enabled keys must be of one algorithm.
    ///   - context: What the files belong to; files of another context are refused.
    ///   - binding: Whether a file is good at its own path alone.
    /// - Returns: The adapter, with files encrypted.
    /// - Throws: `FileStoreError` with the code `invalidArgument` for keys of several algorithms.
    public func encrypted(
        with streams: StreamingEncryption,
        context: String = "",
        binding: FileBinding = .path
    ) throws(FileStoreError) -> EncryptedFileStoreAdapter<Self> {
        try EncryptedFileStoreAdapter(self, with: streams, context: context, binding: binding)
    }
}
#else
/// An adapter that encrypts files; it needs the trait `Crypto`.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct EncryptedFileStoreAdapter: Sendable {}
#endif
