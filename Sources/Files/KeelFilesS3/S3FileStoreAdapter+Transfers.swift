#if Crypto
internal import HTTPTypes
internal import KeelCore
public import KeelFiles

extension S3FileStoreAdapter {
    /// Copies an object, and deletes the source for a move.
    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        try refuseIfIgnored(request.condition)
        let source: FileMetadata
        let copy: FileMetadata
        do throws(S3Failure) {
            guard let found = try await object(at: request.source, try keyOf(request.source)) else {
                throw S3Failure.failed(.notFound(request.source))
            }
            if request.condition != .none {
                let there = try await object(at: request.target, try keyOf(request.target))
                try check(request.condition, request.target, there?.version)
            }
            // S3 refuses to copy an object to itself without changes.
            guard request.source != request.target else { return found }
            (source, copy) = try await copyLatest(found, request)
        } catch {
            guard let refusal = error.refusal else {
                throw error.error(of: "Copying “\(request.source)”", isWrite: true)
            }
            if refusal.isMissing { throw FileStoreError.notFound(request.source) }
            if refusal.isFailedCondition { throw FileStoreError.changedMeanwhile(request.target) }
            throw refusal.error(of: "Copying “\(request.source)”", isWrite: true)
        }
        if request.isMove { try await deleteSource(source, of: request) }
        return copy
    }

    /// Deletes the source of a move, which has been copied, unless it was replaced after the copy.
    ///
    /// If the server ignores conditions, a source that is replaced in the moment of its deletion is lost.
    private func deleteSource(
        _ source: FileMetadata,
        of request: FileTransferRequest
    ) async throws(FileStoreError) {
        let condition: FileCondition =
            configuration.honorsConditions ? .version(source.version) : .none
        do throws(FileStoreError) {
            if condition == .none {
                let present = try await metadata(of: request.source)
                guard present?.version == source.version else {
                    throw FileStoreError.changedMeanwhile(request.source)
                }
            }
            _ = try await delete(request.source, if: condition)
        } catch {
            let isReplaced = error.code == .conditionFailed
            // Deleted by somebody else, the source is where the move would have it.
            if isReplaced, await isMissing(request.source) { return }
            let reason = isReplaced ? "it was replaced meanwhile" : error.message
            throw FileStoreError(
                error.code,
                "“\(request.source)” was copied to “\(request.target)” but not deleted: \(reason)",
                cause: error.cause
            )
        }
    }

    private func isMissing(_ path: FileStorePath) async -> Bool {
        do throws(S3Failure) {
            return try await object(at: path, try keyOf(path)) == nil
        } catch {
            return false
        }
    }

    /// Copies an object, or the one that replaces it meanwhile; returns the copied version and the copy.
    private func copyLatest(
        _ first: FileMetadata,
        _ request: FileTransferRequest
    ) async throws(S3Failure) -> (source: FileMetadata, copy: FileMetadata) {
        var source = first
        for _ in 0..<4 {
            do throws(S3Failure) {
                return (source, try await copy(source, request))
            } catch {
                // The reply does not say whether the condition on the source or that on the target failed.
                guard error.isFailedCondition else { throw error }
                let present = try await object(at: request.source, try keyOf(request.source))
                guard let present else { throw .failed(.notFound(request.source)) }
                guard present.version != source.version else { throw error }
                source = present
            }
        }
        throw .failed(.changedMeanwhile(request.source))
    }

    private func copy(
        _ source: FileMetadata,
        _ request: FileTransferRequest
    ) async throws(S3Failure) -> FileMetadata {
        let options = FileWriteOptions(
            contentType: source.contentType,
            attributes: source.attributes,
            condition: request.condition
        )
        let file = S3NewFile(
            path: request.target,
            key: try keyOf(request.target),
            content: FileContent([]),
            options: options
        )
        let place =
            configuration.bucket + "/"
            + PercentEncoding.encode(try keyOf(request.source), keepsSlashes: true)
        guard source.size <= copyByteCount else {
            return try await copyInParts(source, file, place)
        }
        // R2 has names of its own for conditions on the target of a copy.
        let prefix = connection.address.isR2 ? "cf-copy-destination-" : ""
        let (head, document) = try await conditioned(file) { (condition) async throws(S3Failure) in
            var call = S3Call(.put, file.key)
            call.fields = condition.map { (name: prefix + $0.name, value: $0.value) }
            call.fields.append((name: "x-amz-copy-source", value: place))
            if configuration.honorsConditions {
                let version = S3Object.ifMatch(source.version).value
                call.fields.append((name: "x-amz-copy-source-if-match", value: version))
            }
            call.body = S3Call.Body(bytes: [])
            call.isRepeatable = condition.isEmpty
            return try await connection.document(of: call)
        }
        return await settled(
            file,
            size: source.size,
            tag: document.text("ETag"),
            checksum: source.checksum,
            at: head
        )
    }

    private func copyInParts(
        _ source: FileMetadata,
        _ file: S3NewFile,
        _ place: String
    ) async throws(S3Failure) -> FileMetadata {
        var settings = configuration
        // There is nothing to resume, and the parts have no checksums.
        settings.uploadFolder = nil
        settings.checksum = nil
        let upload = try await S3Upload.begun(file, copyByteCount, connection.with(settings))
        do throws(S3Failure) {
            let starts = stride(from: 0, to: source.size, by: copyByteCount)
            let ranges = starts.map { $0..<min($0 + copyByteCount, source.size) }
            let parts = try await Array(ranges.enumerated()).concurrentMap(
                limit: configuration.maximumConcurrentParts
            ) { (index, range) async throws(S3Failure) in
                try await upload.copy(index + 1, range, of: place, source.version)
            }
            let (head, tag) = try await conditioned(file) { (condition) async throws(S3Failure) in
                try await upload.complete(parts, condition, nil)
            }
            return await settled(
                file,
                size: source.size,
                tag: tag,
                checksum: source.checksum,
                at: head
            )
        } catch {
            await upload.abandon()
            throw error
        }
    }
}

extension S3Upload {
    fileprivate func copy(
        _ number: Int,
        _ range: Range<Int>,
        of place: String,
        _ version: FileVersion
    ) async throws(S3Failure) -> S3Part {
        var call = S3Call(.put, file.key)
        call.query = [
            (name: "partNumber", value: "\(number)"), (name: "uploadId", value: id),
        ]
        let bytes = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        call.fields = [
            (name: "x-amz-copy-source", value: place),
            (name: "x-amz-copy-source-range", value: bytes),
            (name: "x-amz-copy-source-if-match", value: S3Object.ifMatch(version).value),
        ]
        call.body = S3Call.Body(bytes: [])
        // A server that does not support such copies creates an empty part, and replies without a document.
        let document = try await connection.document(of: call).document
        guard document.name == "CopyPartResult", let tag = document.text("ETag") else {
            throw .failed(.invalidReply("the copy of a part has no entity tag"))
        }
        return S3Part(number: number, byteCount: range.count, tag: tag)
    }
}
#endif
