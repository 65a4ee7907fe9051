#if Crypto
internal import HTTPTypes
internal import KeelCore
public import KeelFiles
internal import KeelHTTP

extension S3FileStoreAdapter {
    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        _ = try range.resolved(size: .max)
        do throws(S3Failure) {
            let begun = try await beginReading(path, range, version)
            if let version, begun.metadata.version != version {
                // Some servers ignore the condition.
                throw S3Failure.failed(.changedMeanwhile(path))
            }
            // A server, or a proxy in front of it, may ignore the range and send all bytes.
            let wanted = try Self.bytes(of: range, in: begun.metadata)
            guard begun.range == wanted else {
                throw S3Failure.failed(.invalidReply("it is not the requested part of the file"))
            }
            let download = S3Download(self, path, begun)
            return FileReading(
                metadata: begun.metadata,
                range: begun.range,
                content: download.content
            )
        } catch {
            guard let refusal = error.refusal else { throw error.error(of: "Reading “\(path)”") }
            if refusal.isMissing { throw FileStoreError.notFound(path) }
            if refusal.isFailedCondition { throw FileStoreError.changedMeanwhile(path) }
            throw error.error(of: "Reading “\(path)”")
        }
    }

    struct Begun: Sendable {
        let metadata: FileMetadata
        let range: Range<Int>
        /// The reply with the bytes; nil for an empty range.
        let reply: HTTPReply?
    }

    private func beginReading(
        _ path: FileStorePath,
        _ range: FileRange,
        _ version: FileVersion?
    ) async throws(S3Failure) -> Begun {
        if let field = Self.field(of: range) {
            do throws(S3Failure) {
                return try await get(path, field, version)
            } catch {
                guard let refusal = error.refusal, refusal.isBeyondEnd else { throw error }
            }
        }
        // An empty range, which no field can request, or one that the server refuses: the size determines its bytes.
        guard let metadata = try await object(at: path, try keyOf(path)) else {
            throw .failed(.notFound(path))
        }
        if let version { try check(.version(version), path, metadata.version) }
        let bytes = try Self.bytes(of: range, in: metadata)
        guard !bytes.isEmpty else { return Begun(metadata: metadata, range: bytes, reply: nil) }
        let field = "bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)"
        return try await get(path, field, metadata.version)
    }

    /// Requests the bytes of an object, all without a range, and returns the reply with its body still unread.
    func get(
        _ path: FileStorePath,
        _ range: String,
        _ version: FileVersion?
    ) async throws(S3Failure) -> Begun {
        var call = S3Call(.get, try keyOf(path))
        call.fields = [(name: "x-amz-checksum-mode", value: "ENABLED")]
        if !range.isEmpty { call.fields.append((name: "range", value: range)) }
        if let version { call.fields.append(S3Object.ifMatch(version)) }
        let reply = try await connection.reply(to: call)
        let fields = reply.head.headerFields
        if !connection.leavesBodiesEncoded, let coding = S3Object.coding(in: fields) {
            throw .failed(
                FileStoreError(
                    .decodedBody,
                    "“\(path)” is stored with Content-Encoding “\(coding)”, which the transport undoes, "
                        + "so that its bytes are not those of the object"
                )
            )
        }
        let metadata = try S3Object.metadata(of: path, fields)
        // Some servers send a part with status 200, so the field decides.
        let part = ContentRange.part(in: fields)
        return Begun(metadata: metadata, range: part?.bytes ?? 0..<metadata.size, reply: reply)
    }

    private static func bytes(
        of range: FileRange,
        in metadata: FileMetadata
    ) throws(S3Failure) -> Range<Int> {
        do throws(FileStoreError) {
            return try range.resolved(size: metadata.size)
        } catch {
            throw .failed(error)
        }
    }

    /// Returns the field that requests a range: empty for all, nil if no field can express it.
    private static func field(of range: FileRange) -> String? {
        switch range {
        case .all: return ""
        case .from(let start): return start == 0 ? "" : "bytes=\(start)-"
        case .last(let count): return count == 0 ? nil : "bytes=-\(count)"
        case .bytes(let start, let count):
            guard count > 0 else { return nil }
            let (last, isTooLarge) = start.addingReportingOverflow(count - 1)
            // Some servers overflow on such large numbers.
            return isTooLarge || last >= 1 << 56
                ? "bytes=\(start)-" : "bytes=\(start)-\(last)"
        }
    }
}
#endif
