#if Crypto
internal import HTTPTypes
public import KeelFiles

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension S3FileStoreAdapter {
    /// The uploads below the store's root that were begun and not ended.
    ///
    /// They are those under way, and those that a failure has left. Their parts take room, and are
    /// paid for.
    ///
    /// - Returns: The uploads, in the order of their keys.
    /// - Throws: `FileStoreError`.
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
                    isEncoded ? AWSEncoding.decode(text, plusIsSpace: true) : text
                }
                for element in document.all("Upload") {
                    guard let text = element.text("Key"), let id = element.text("UploadId"),
                        let begun = S3Object.time(element.text("Initiated"))
                    else { throw S3Failure.failed(.invalidReply("an upload lacks its id")) }
                    uploads.append(IncompleteUpload(key: key(text), id: id, begun: begun))
                }
                let next = document.text("NextKeyMarker").map(key)
                guard document.text("IsTruncated") == "true", let next, !next.isEmpty else { break }
                markers = [
                    (name: "key-marker", value: next),
                    (
                        name: "upload-id-marker",
                        value: document.text("NextUploadIdMarker") ?? ""
                    ),
                ]
            } while true
            return uploads.sorted { FilePaging.precedes($0.key, $1.key) }
        } catch {
            throw error.error(of: "Listing uploads")
        }
    }

    /// Ends the uploads below the store's root that were begun longer ago than this, and frees the
    /// room that their parts take.
    ///
    /// Choose an age that no upload under way has: that would fail.
    ///
    /// - Parameter age: How long ago.
    /// - Returns: How many there were.
    /// - Throws: `FileStoreError`; some may be ended.
    @discardableResult
    public func abortIncompleteUploads(
        olderThan age: Duration
    ) async throws(FileStoreError) -> Int {
        let latest = connection.now.addingTimeInterval(-(age / .seconds(1)))
        var count = 0
        for upload in try await incompleteUploads() where upload.begun <= latest {
            do throws(S3Failure) {
                var call = S3Call(.delete, upload.key)
                call.query = [(name: "uploadId", value: upload.id)]
                _ = try await connection.head(of: call)
                count += 1
            } catch {
                // Ended by somebody else meanwhile.
                guard error.refusal?.isMissingUpload != true else { continue }
                throw error.error(of: "Ending an upload of “\(upload.key)”", isWrite: true)
            }
        }
        return count
    }
}
#endif
