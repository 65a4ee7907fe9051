import Foundation
import Keel
import KeelFilesS3
import KeelHTTPTransfers

/// Examples from the articles of KeelFilesS3 and KeelHTTPTransfers; see ``ArticleExamples``.
enum ArticleFileExamples {
    struct Bar: Sendable {
        var value: Double?
    }

    static func photos(_ jpeg: Data, _ id: Int) async throws {
        let transport = AsyncHTTPClientTransport()
        let bucket = S3FileStoreAdapter.Configuration(bucket: "photos", region: "eu-central-1")
        let files = FileStore(try S3FileStoreAdapter(bucket, transport: transport))
        try await files.write(jpeg, to: "2026/\(id).jpg")
    }

    static func chain(
        _ transport: AsyncHTTPClientTransport
    ) -> S3FileStoreAdapter.Configuration {
        let chain = AWSCredentialsChain(transport: transport)
        let bucket = S3FileStoreAdapter.Configuration(
            bucket: "photos",
            region: "eu-central-1",
            credentials: chain
        )
        return bucket
    }

    static func line(
        _ bucket: S3FileStoreAdapter.Configuration,
        _ transport: AsyncHTTPClientTransport
    ) throws -> FileStore {
        // FileStore(try LocalFileStoreAdapter(folder: "/var/lib/app/files"))
        FileStore(try S3FileStoreAdapter(bucket, transport: transport))
    }

    static func local(_ id: String, _ secret: String) -> S3FileStoreAdapter.Configuration {
        var local = S3FileStoreAdapter.Configuration(
            bucket: "photos",
            region: "us-east-1",
            endpoint: "http://127.0.0.1:9000",
            credentials: AWSCredentials(accessKeyID: id, secretAccessKey: secret)
        )
        local.root = "tenant-7"  // a folder of the bucket that is the root of the store
        return local
    }

    static func leftovers(_ adapter: S3FileStoreAdapter) async throws {
        try await adapter.abortIncompleteUploads(olderThan: .seconds(7 * 24 * 3600))
    }

    static func transfers(
        _ address: URL,
        _ file: URL,
        _ film: URL,
        _ uploads: URL,
        _ client: NetworkClient
    ) async throws {
        let download = ResumableDownload(from: address, to: file, through: client)
        try await download.run()

        let upload = ResumableUpload(of: film, to: uploads, through: client, protocol: .tus)
        try await upload.run()
    }

    static func progress(_ download: ResumableDownload) async throws {
        var bar = Bar()
        let (observer, updates) = ResumableTransferObserver.updates()
        let task = Task { try await download.run(observer: observer) }
        for await progress in updates { bar.value = progress.fraction }
        _ = (bar, try await task.value)
    }
}
