#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles

extension S3FileStoreAdapter {
    /// Uploads a file in parts of `byteCount` bytes, several at a time; after an error they are removed, or recorded
    /// for another attempt.
    func put(
        _ file: S3NewFile,
        inPartsOf byteCount: Int,
        _ first: [UInt8],
        _ reader: S3PartReader
    ) async throws(S3Failure) -> FileMetadata {
        if file.options.condition != .none {
            // An early check, to avoid a useless upload; the check at the end is the one that counts.
            let version = try await object(at: file.path, file.key)?.version
            try check(file.options.condition, file.path, version)
        }
        let upload = try await S3Upload.begun(file, byteCount, connection)
        do throws(S3Failure) {
            let parts = try await send(upload, byteCount, first, reader)
            try reader.checkArrival(of: file)
            try checkCancellation()
            let checksum =
                configuration.checksum == .crc32c
                ? Self.checksum(of: parts) : reader.checksum(configuration.checksum)
            let (head, tag) = try await conditioned(file) { (condition) async throws(S3Failure) in
                try await upload.complete(parts, condition, checksum)
            }
            upload.manifest?.remove()
            return await settled(file, size: reader.count, tag: tag, checksum: checksum, at: head)
        } catch {
            if upload.manifest == nil || !Self.mayGoOn(after: error) { await upload.abandon() }
            throw error
        }
    }

    private static func checksum(of parts: [S3Part]) -> FileChecksum? {
        let known = parts.compactMap { part in
            part.checksum.flatMap { S3Object.checksum($0, by: .crc32c) }
                .map { (checksum: $0, byteCount: part.byteCount) }
        }
        return known.count == parts.count ? FileChecksum.joined(known) : nil
    }

    /// Returns whether another attempt may succeed, so that the parts are worth keeping.
    private static func mayGoOn(after failure: S3Failure) -> Bool {
        if failure.refusal?.isMissingUpload == true { return false }
        let error = failure.error(of: "")
        return error.isTransient
            || [.cancelled, .sourceFailed, .credentialsRefused, .credentialsMissing, .unknown]
                .contains(error.code)
    }

    private func send(
        _ upload: S3Upload,
        _ byteCount: Int,
        _ first: [UInt8],
        _ reader: S3PartReader
    ) async throws(S3Failure) -> [S3Part] {
        let limit = configuration.maximumConcurrentParts
        let result = await withTaskGroup(
            of: Result<S3Part, S3Failure>.self
        ) { group -> Result<[S3Part], S3Failure> in
            var parts: [S3Part] = []
            do throws(S3Failure) {
                var bytes = first
                var number = 1
                while true {
                    if number > limit, let next = await group.next() {
                        parts.append(try next.get())
                    }
                    guard number <= S3Upload.mostParts else {
                        throw S3Failure.failed(.tooManyParts)
                    }
                    let (part, place) = (bytes, number)
                    group.addTask {
                        do throws(S3Failure) {
                            return .success(try await upload.send(place, part))
                        } catch {
                            return .failure(error)
                        }
                    }
                    number += 1
                    let isOver = try await failing { () async throws(FileStoreError) in
                        try await reader.isOver()
                    }
                    if isOver { break }
                    bytes = try await failing { () async throws(FileStoreError) in
                        try await reader.next(byteCount)
                    }
                }
                while let next = await group.next() { parts.append(try next.get()) }
                return .success(parts.sorted { $0.number < $1.number })
            } catch {
                group.cancelAll()
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension FileStoreError {
    fileprivate static let tooManyParts = FileStoreError(
        .tooLarge,
        "The file has more than 10,000 parts; announce its length, or use larger parts."
    )
}
#endif
