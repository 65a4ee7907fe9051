#if Crypto
import Foundation
import HTTPTypes
import Keel
import KeelFilesS3
import KeelTestKit
import Testing

/// Examples from the comments of KeelFilesS3; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func s3FileStoreAdapterPresigning(_ bucket: S3FileStoreAdapter) async throws {
        let url = try await bucket.presignedURL(
            for: "photos/7.jpg",
            to: .get,
            expiresIn: .seconds(600)
        )
        _ = url
    }

    static func aWSSignatureV4(_ request: HTTPRequest, _ credentials: AWSCredentials) async throws {
        let signer = AWSSignatureV4(region: "eu-central-1", service: "s3", rules: .s3)
        let signed = signer.signed(request, payload: .unsigned, by: credentials, at: .now)
        _ = signer
        _ = signed
    }
}
#endif
