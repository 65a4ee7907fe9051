#if Crypto
internal import HTTPTypes
public import KeelFiles

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension S3FileStoreAdapter {
    /// The permission of a presigned URL.
    public enum PresignedUse: String, Hashable, Sendable, CaseIterable {
        /// Read the file, with GET.
        case get
        /// Write the file, with PUT, in one request of at most 5 GiB.
        case put
    }

    /// Returns a URL with which anyone can read or write one file without credentials for a limited time.
    ///
    /// The bucket gets no request. Only revoking the credentials revokes the URL, so treat it as a secret while it is
    /// valid. It expires no later than the credentials.
    ///
    /// ```swift
    /// let url = try await bucket.presignedURL(for: "photos/7.jpg", to: .get, expiresIn: .seconds(600))
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - use: The permission.
    ///   - duration: The validity, from 1 second to 7 days.
    /// - Returns: The URL.
    /// - Throws: `FileStoreError` with the code `invalidArgument` for another duration, `invalidPath`, or the error of
    ///   the credentials.
    public func presignedURL(
        for path: FileStorePath,
        to use: PresignedUse,
        expiresIn duration: Duration
    ) async throws(FileStoreError) -> URL {
        try path.check()
        guard duration >= .seconds(1), duration <= AWSSignatureV4.maximumExpiry else {
            throw FileStoreError(.invalidArgument, "A URL must be valid for 1 second to 7 days.")
        }
        let call = S3Call(use == .get ? .get : .put, try checkedKey(path))
        do throws(S3Failure) {
            let request = try await connection.presigned(call, for: duration)
            let text =
                (request.scheme ?? "") + "://" + (request.authority ?? "")
                + (request.path ?? "")
            guard let url = URL(string: text) else {
                throw S3Failure.failed(.invalidReply("the endpoint does not form a URL"))
            }
            return url
        } catch {
            throw error.error(of: "Signing a URL for “\(path)”")
        }
    }
}
#endif
