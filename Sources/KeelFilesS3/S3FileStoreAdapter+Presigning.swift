#if Crypto
internal import HTTPTypes
public import KeelFiles

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension S3FileStoreAdapter {
    /// What a URL that is given away lets its holder do.
    public enum PresignedUse: String, Hashable, Sendable, CaseIterable {
        /// Read the file, with GET.
        case get
        /// Put the file, with PUT, in one request of 5 GiB at most.
        case put
    }

    /// A URL with which somebody without credentials may read or put one file for a while.
    ///
    /// Nothing is sent, and nothing can be taken back but the credentials themselves: the URL is a
    /// secret as long as it is good. It is good no longer than the credentials are.
    ///
    /// ```swift
    /// let url = try await bucket.presignedURL(for: "photos/7.jpg", to: .get, expiresIn: .seconds(600))
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - use: What its holder may do.
    ///   - duration: How long, 1 second to 7 days.
    /// - Returns: The URL.
    /// - Throws: `FileStoreError` with the code `invalidArgument` for another duration,
    ///   `invalidPath`, or why there are no credentials.
    public func presignedURL(
        for path: FileStorePath,
        to use: PresignedUse,
        expiresIn duration: Duration
    ) async throws(FileStoreError) -> URL {
        try path.check()
        guard duration >= .seconds(1), duration <= AWSSignatureV4.longestExpiry else {
            throw FileStoreError(.invalidArgument, "A URL is good for 1 second to 7 days.")
        }
        let call = S3Call(use == .get ? .get : .put, try checkedKey(path))
        do throws(S3Failure) {
            let request = try await connection.presigned(call, for: duration)
            let text =
                (request.scheme ?? "") + "://" + (request.authority ?? "")
                + (request.path ?? "")
            guard let url = URL(string: text) else {
                throw S3Failure.failed(.invalidReply("the endpoint makes no URL"))
            }
            return url
        } catch {
            throw error.error(of: "Signing a URL for “\(path)”")
        }
    }
}
#endif
