#if Crypto
internal import HTTPTypes
internal import KeelCore
public import KeelFiles
internal import KeelHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension S3FileStoreAdapter {
    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        try refuseIfIgnored(options.condition)
        let file = S3NewFile(
            path: path,
            key: try checkedKey(path),
            content: content,
            options: options
        )
        let reader = try await S3PartReader(
            content,
            // The CRC-32C of the file is combined from those of the parts.
            algorithms: [
                configuration.checksum == .crc32c ? nil : configuration.checksum,
                options.checksum?.algorithm,
            ]
        )
        let partByteCount = try partByteCount(of: content)
        let first = try await reader.next(partByteCount)
        do throws(S3Failure) {
            guard
                try await failing({ () async throws(FileStoreError) in try await reader.isOver() })
            else {
                return try await put(file, inPartsOf: partByteCount, first, reader)
            }
            return try await put(file, whole: first, reader)
        } catch {
            throw error.error(of: "Putting “\(path)”", isWrite: true)
        }
    }

    private func partByteCount(of content: FileContent) throws(FileStoreError) -> Int {
        let length = content.length ?? 0
        let fewest = (length + S3Upload.mostParts - 1) / S3Upload.mostParts
        let megabyte = 1 << 20
        let rounded = (fewest + megabyte - 1) / megabyte * megabyte
        guard rounded <= 5 << 30 else {
            throw FileStoreError(.tooLarge, "S3 cannot store a file of \(length) bytes.")
        }
        return max(configuration.partByteCount, rounded)
    }

    // MARK: In one request

    private func put(
        _ file: S3NewFile,
        whole bytes: [UInt8],
        _ reader: S3PartReader
    ) async throws(S3Failure) -> FileMetadata {
        try reader.checkArrival(of: file)
        try checkCancellation()
        let checksum =
            reader.checksum(configuration.checksum)
            ?? configuration.checksum.flatMap { try? FileChecksum.of(bytes, by: $0) }
        let head = try await conditioned(file) { (condition) async throws(S3Failure) in
            var call = S3Call(.put, file.key)
            call.fields = file.fields + condition
            if let checksum {
                let name = S3Object.name(of: checksum.algorithm)
                call.fields += [
                    (name: "x-amz-sdk-checksum-algorithm", value: name),
                    (
                        name: S3Object.field(of: checksum.algorithm),
                        value: S3Object.text(of: checksum)
                    ),
                ]
            }
            call.body = S3Call.Body(bytes: bytes)
            call.isRepeatable = condition.isEmpty
            return try await connection.head(of: call)
        }
        return await settled(
            file,
            size: bytes.count,
            tag: head.headerFields.first("etag"),
            checksum: checksum,
            at: head
        )
    }

    // MARK: Common to both

    /// Makes a call with the fields for the condition of a file.
    ///
    /// S3 cannot express the condition that any file exists: the call uses the current version, and is repeated if that
    /// has changed meanwhile.
    func conditioned<Value>(
        _ file: S3NewFile,
        _ call: ([(name: String, value: String)]) async throws(S3Failure) -> Value
    ) async throws(S3Failure) -> Value {
        var tries = 0
        while true {
            let fields: [(name: String, value: String)]
            switch file.options.condition {
            case .none: fields = []
            case .absent: fields = [(name: "if-none-match", value: "*")]
            case .version(let version): fields = [S3Object.ifMatch(version)]
            case .present:
                let version = try await object(at: file.path, file.key)?.version
                try check(.present, file.path, version)
                fields = version.map { [S3Object.ifMatch($0)] } ?? []
            }
            do throws(S3Failure) {
                return try await call(fields)
            } catch {
                guard let refusal = error.refusal, !fields.isEmpty,
                    refusal.isFailedCondition || refusal.isMissing
                else { throw error }
                tries += 1
                guard file.options.condition == .present, tries < 4 else {
                    throw .failed(.changedMeanwhile(file.path))
                }
            }
        }
    }

    /// Returns the metadata of a file that was written, from the server or, if it cannot be requested or another
    /// program has replaced the file since, from what is known.
    func settled(
        _ file: S3NewFile,
        size: Int,
        tag: String?,
        checksum: FileChecksum?,
        at head: HTTPResponse
    ) async -> FileMetadata {
        let version = tag.map(S3Object.version)
        let kept = try? await object(at: file.path, file.key)
        // A server that ignores conditions, such as rclone, may also change the version of a file uploaded in parts
        // once it is stored. No condition can rely on that version, so the size decides.
        let isComparable = version != nil && configuration.honorsConditions
        if let kept, kept.size == size, !isComparable || kept.version == version { return kept }
        let time = head.headerFields[.date].flatMap { HTTPDate($0)?.seconds }
        return FileMetadata(
            FileSummary(
                path: file.path,
                size: size,
                modified: time.map { Date(timeIntervalSince1970: TimeInterval($0)) }
                    ?? connection.now,
                version: version ?? FileVersion("")
            ),
            contentType: file.contentType,
            attributes: file.options.attributes,
            checksum: checksum
        )
    }

    func failing<Value>(
        _ body: () async throws(FileStoreError) -> Value
    ) async throws(S3Failure) -> Value {
        do throws(FileStoreError) {
            return try await body()
        } catch {
            throw .failed(error)
        }
    }
}

struct S3NewFile: Sendable {
    let path: FileStorePath
    let key: String
    let content: FileContent
    let options: FileWriteOptions

    var contentType: String { options.contentType ?? ContentTypes.type(of: path) }

    var fields: [(name: String, value: String)] {
        [(name: "content-type", value: contentType)]
            + S3Attributes.fields(of: options.attributes)
    }
}
#endif
