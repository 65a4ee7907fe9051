import Foundation
import HTTPTypes
import Keel
import KeelFiles
import KeelFilesS3
import KeelTestKit
import Testing

/// Examples from the comments of KeelFiles and KeelFilesS3; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func fileStorePath(_ id: UUID) async throws {
        let photo: FileStorePath = "photos/2026/\(id).jpg"
        _ = photo
    }

    static func fileContent(_ reading: FileReading) async throws {
        let hash = Digest()
        for try await piece in reading.content { hash.update(piece) }
        _ = hash
    }

    static func cachedFileStoreAdapter(_ remote: InMemoryFileStoreAdapter, _ cachesFolder: String)
        async throws
    {
        let files = FileStore(remote.cached(in: try LocalFileStoreAdapter(folder: cachesFolder)))
        _ = files
    }

    static func observedFileStoreAdapter(_ local: LocalFileStoreAdapter) async throws {
        let adapter = local.observed { call in
            timer("files.\(call.operation)").record(call.duration)
        }
        _ = adapter
    }

    static func fileStore2(_ jpeg: Data, _ id: UUID) async throws {
        let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/app/files"))
        try await files.write(jpeg, to: "photos/\(id).jpg")
        let photo = try await files.read("photos/\(id).jpg")
        _ = files
        _ = photo
    }
}

#if Crypto
// KeelFilesS3
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
