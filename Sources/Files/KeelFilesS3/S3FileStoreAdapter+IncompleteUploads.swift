#if Crypto
internal import HTTPTypes
internal import KeelCore
public import KeelFiles

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension S3FileStoreAdapter {
    /// Returns the uploads below the store's root that were neither completed nor aborted, sorted by key.
    ///
    /// These are the uploads in progress and those that a failure has left. Their parts occupy storage and are billed.
    public func incompleteUploads() async throws(FileStoreError) -> [IncompleteUpload] {
        do throws(S3Failure) {
            var uploads: [IncompleteUpload] = []
            var markers: [(name: String, value: String)] = []
            repeat {
                try checkCancellation()
                var call = S3Call(.get, nil)
                call.query =
                    [
                        (name: "uploads", value: ""), (name: "encoding-type", value: "url"),
                        (name: "prefix", value: configuration.root.prefix),
                    ] + markers
                let document = try await connection.document(of: call).document
                let isEncoded = document.text("EncodingType") == "url"
                func key(_ text: String) -> String {
                    isEncoded ? PercentEncoding.decode(text, plusIsSpace: true) : text
                }
                for element in document.all("Upload") {
                    guard let text = element.text("Key"), let id = element.text("UploadId"),
                        let startDate = S3Object.time(element.text("Initiated"))
                    else { throw S3Failure.failed(.invalidReply("an upload lacks its id")) }
                    uploads.append(IncompleteUpload(key: key(text), id: id, startDate: startDate))
                }
                let next = document.text("NextKeyMarker").map(key)
                guard document.text("IsTruncated") == "true", let next, !next.isEmpty else { break }
                let id = document.text("NextUploadIdMarker") ?? ""
                guard markers.map({ $0.value }) != [next, id] else {
                    throw S3Failure.failed(.invalidReply("two pages of uploads have the same end"))
                }
                markers = [
                    (name: "key-marker", value: next), (name: "upload-id-marker", value: id),
                ]
            } while true
            return uploads.sorted { FilePaging.precedes($0.key, $1.key) }
        } catch {
            throw error.error(of: "Listing uploads")
        }
    }

    /// Aborts the uploads below the store's root that are older than the given age, freeing the storage of their parts.
    ///
    /// An upload in progress of that age fails.
    ///
    /// - Returns: The number of aborted uploads.
    /// - Throws: `FileStoreError`; some uploads may have been aborted.
    @discardableResult
    public func abortIncompleteUploads(
        olderThan age: Duration
    ) async throws(FileStoreError) -> Int {
        let latest = connection.now.addingTimeInterval(-(age / .seconds(1)))
        var count = 0
        for upload in try await incompleteUploads() where upload.startDate <= latest {
            do throws(S3Failure) {
                var call = S3Call(.delete, upload.key)
                call.query = [(name: "uploadId", value: upload.id)]
                _ = try await connection.head(of: call)
                count += 1
            } catch {
                // Another program has ended the upload in the meantime.
                guard error.refusal?.isMissingUpload != true else { continue }
                throw error.error(of: "Ending an upload of “\(upload.key)”", isWrite: true)
            }
        }
        return count
    }
}

/// An upload in parts that was neither completed nor aborted.
public struct IncompleteUpload: Hashable, Sendable {
    /// The key of the file, including the store's root.
    public let key: String
    /// The server's id of the upload.
    public let id: String
    /// The start of the upload, by the server's clock.
    public let startDate: Date
}
#endif
