internal import Foundation
internal import KeelFiles
package import KeelFilesS3
package import KeelHTTP
internal import KeelToolSupport

/// The settings for access to buckets.
package struct BucketSettings: Sendable {
    /// The server; nil for AWS.
    package var endpoint: String?
    package var region: String
    /// Whether the bucket's name is in the path, for any server.
    package var isPathStyle: Bool
    package var partByteCount: Int
    package var maximumConcurrentParts: Int
    /// The number of files of a folder copied concurrently.
    package var parallelFileCount: Int
    /// The folder for the state of unfinished uploads; nil for none.
    package var uploadFolder: String?
    package var credentials: any AWSCredentialsProvider

    /// Creates settings from the command line, with the environment as a fallback.
    ///
    /// - Parameters:
    ///   - endpoint: The server.
    ///   - region: The region.
    ///   - environment: The environment variables, named as for AWS's tools.
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
        maximumConcurrentParts = 4
        parallelFileCount = 4
        credentials = EnvironmentAWSCredentials(environment: environment)
        let cache = value("XDG_CACHE_HOME") ?? value("HOME").map { $0 + "/.cache" }
        uploadFolder = cache.map { $0 + "/keel/uploads" }
    }

    /// Returns the adapter of a bucket.
    ///
    /// - Parameters:
    ///   - bucket: The bucket.
    ///   - transport: The transport for requests.
    /// - Returns: The adapter.
    /// - Throws: `FileStoreError` for invalid settings.
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
        configuration.maximumConcurrentParts = maximumConcurrentParts
        configuration.uploadFolder = uploadFolder
        return try S3FileStoreAdapter(configuration, transport: transport)
    }
}
