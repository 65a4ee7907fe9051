internal import Foundation
internal import KeelFiles
package import KeelFilesS3
package import KeelHTTP
internal import KeelToolSupport

/// How buckets are reached.
package struct BucketSettings: Sendable {
    /// The server; nil is AWS's.
    package var endpoint: String?
    package var region: String
    /// Whether the bucket's name stands in the path, whatever the server.
    package var isPathStyle: Bool
    package var partByteCount: Int
    package var parallelPartCount: Int
    /// How many files of a folder are copied at a time.
    package var parallelFileCount: Int
    /// Where the notes of unfinished uploads are; nil keeps none.
    package var uploadFolder: String?
    package var credentials: any AWSCredentialsProvider

    /// Takes what the command line says, and else what the environment does.
    ///
    /// - Parameters:
    ///   - endpoint: The server.
    ///   - region: The region.
    ///   - environment: The environment's variables, with the names that AWS's tools have.
    package init(
        endpoint: String? = nil,
        region: String? = nil,
        environment: [String: String]
    ) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        self.endpoint = endpoint ?? value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        self.region = region ?? value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
        isPathStyle = false
        partByteCount = 8 << 20
        parallelPartCount = 4
        parallelFileCount = 4
        credentials = EnvironmentAWSCredentials(environment: environment)
        let cache = value("XDG_CACHE_HOME") ?? value("HOME").map { $0 + "/.cache" }
        uploadFolder = cache.map { $0 + "/keel/uploads" }
    }

    /// The store of a bucket.
    ///
    /// - Parameters:
    ///   - bucket: The bucket.
    ///   - transport: What carries the requests.
    /// - Returns: The adapter.
    /// - Throws: `FileStoreError` where the settings cannot be right.
    package func adapter(
        _ bucket: String,
        over transport: any HTTPTransport
    ) throws -> S3FileStoreAdapter {
        var configuration = S3FileStoreAdapter.Configuration(
            bucket: bucket,
            region: region,
            endpoint: endpoint,
            credentials: credentials
        )
        if isPathStyle { configuration.addressing = .path }
        configuration.partByteCount = partByteCount
        configuration.parallelPartCount = parallelPartCount
        configuration.uploadFolder = uploadFolder
        return try S3FileStoreAdapter(configuration, transport: transport)
    }
}
