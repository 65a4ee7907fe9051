#if Crypto
public import KeelFiles
public import KeelSecurity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An adapter that encrypts the files of another store.
///
/// ```swift
/// let key = try Keyset.make(.aes256GCMHKDF64KB)
/// let adapter = try remote.encrypted(with: StreamingEncryption(keyset: key))
/// let files = FileStore(adapter)
/// ```
///
/// Reading and writing need memory for about one segment. Every byte read is authenticated, and a file that was read to
/// its end is known to be complete. Reading a part takes two reads of the store, of the header and of the segments that
/// hold the part, and does not detect that the file was truncated behind the part.
///
/// Paths, sizes, times, content types and attributes are visible in the store. Files have no checksum; a checksum in
/// the options of a call is compared with the plaintext.
///
/// With ``FileBinding/path`` a file is valid only at its own path. Copying and moving then decrypt and encrypt the
/// file, and a move writes the target before it removes the source: a crash in between leaves both files.
///
/// Encrypt outside of a cache, so that the cache holds encrypted files:
/// `remote.cached(in: local).encrypted(with: streams)`.
public struct EncryptedFileStoreAdapter<Upstream: FileStoreAdapter>: FileStoreAdapter {
    let upstream: Upstream
    let streams: StreamingEncryption
    private let headerCount: Int
    private let context: String
    private let binding: FileBinding

    fileprivate init(
        _ upstream: Upstream,
        with streams: StreamingEncryption,
        context: String,
        binding: FileBinding
    ) throws(FileStoreError) {
        guard let headerCount = streams.headerCount else {
            throw FileStoreError(
                .invalidArgument,
                "The enabled keys use several algorithms, so the sizes of files cannot be computed."
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
        // The checksum is that of the plaintext, and compared while it passes.
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
                // A store without attributes refuses every type, and derives it from the path.
                contentType: capabilities.contains(.attributes)
                    ? reading.metadata.contentType : nil,
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
                // The file was replaced between the two reads; read the new one.
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

    private func remove(
        _ request: FileTransferRequest,
        _ version: FileVersion
    ) async throws(FileStoreError) {
        do throws(FileStoreError) {
            try await remove(request.source, version)
        } catch  where error.code == .conditionFailed {
            // The source was replaced after it was read, as if that had happened after the move.
        } catch {
            throw FileStoreError(
                .unavailable,
                "“\(request.source)” was copied to “\(request.target)” but could not be removed.",
                cause: error
            )
        }
    }

    private func remove(
        _ path: FileStorePath,
        _ version: FileVersion
    ) async throws(FileStoreError) {
        do throws(FileStoreError) {
            _ = try await upstream.delete(path, if: .version(version))
        } catch {
            // A store whose server ignores conditions refuses them, so the versions are compared before.
            guard error.code == .unsupported else { throw error }
            guard try await upstream.metadata(of: path)?.version == version else { return }
            _ = try await upstream.delete(path, if: .none)
        }
    }

    // MARK: Metadata

    func associatedData(_ path: FileStorePath) -> Data {
        // The length prefix of the context keeps different pairs distinct.
        var text = "keel-file-1:\(context.utf8.count):\(context)"
        if binding == .path { text += path.string }
        return Data(text.utf8)
    }

    private func plain(_ summary: FileSummary) -> FileSummary {
        var summary = summary
        // No encrypted file has this size: it is a foreign file, which reading refuses.
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

/// The paths at which an encrypted file is valid.
public enum FileBinding: Hashable, Sendable, CaseIterable {
    /// Valid only at its own path: swapped files are refused, and copying and moving encrypt the file again.
    case path
    /// Valid at every path of its context: copying and moving are operations of the store, but anyone with write access
    /// to the store can swap files.
    case context
}

extension FileStoreAdapter {
    /// Returns an adapter that encrypts files; see ``EncryptedFileStoreAdapter``.
    ///
    /// - Parameters:
    ///   - streams: The encryption; all enabled keys must have the same segment layout.
    ///   - context: The context that files are bound to.
    ///   - binding: Whether a file is valid only at its own path.
    /// - Returns: The encrypting adapter.
    /// - Throws: `FileStoreError` with the code `invalidArgument` for keys with different layouts.
    public func encrypted(
        with streams: StreamingEncryption,
        context: String = "",
        binding: FileBinding = .path
    ) throws(FileStoreError) -> EncryptedFileStoreAdapter<Self> {
        try EncryptedFileStoreAdapter(self, with: streams, context: context, binding: binding)
    }
}
#else
/// An adapter that encrypts files; requires the trait `Crypto`.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct EncryptedFileStoreAdapter: Sendable {}
#endif
