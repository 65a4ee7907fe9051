internal import Foundation
internal import KeelFiles
internal import KeelFilesS3
internal import KeelHTTP
internal import KeelToolSupport

/// The settings for access to buckets.
package struct BucketSettings: Sendable {
    /// The URL of the server; nil for AWS.
    package var endpoint: String?
    package var region: String
    /// Whether the bucket's name is always in the path; otherwise only for a server other than AWS, or with a dot in
    /// it.
    package var isPathStyle: Bool
    package var partByteCount: Int
    package var maximumConcurrentParts: Int
    package var parallelFileCount: Int
    /// The rate to which the transport is limited, which lengthens time limits; nil for no limit.
    package var rateLimit: RateLimit?
    /// The folder that records unfinished uploads; nil if they are not resumed.
    package var uploadFolder: String?
    /// The profile of AWS's files to use instead of the environment's credentials; nil for the usual order.
    package var profile: String?
    package var provider: BucketProvider
    private let environment: [String: String]

    /// The maximum size of a piece of a body that an adapter passes to its transport.
    private static let pieceByteCount = 64 << 10

    /// Creates settings from arguments, otherwise from the variables of AWS's tools, otherwise from the provider; for
    /// R2, the variables of the region are ignored.
    package init(
        endpoint: String? = nil,
        region: String? = nil,
        provider: BucketProvider = .aws,
        environment: [String: String]
    ) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        self.environment = environment
        self.provider = provider
        self.endpoint =
            endpoint ?? value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? provider.endpoint
        // R2 refuses the regions of AWS: https://developers.cloudflare.com/r2/api/s3/api/#bucket-region
        let usual = provider == .r2 ? nil : value("AWS_REGION", "AWS_DEFAULT_REGION")
        self.region = region ?? usual ?? provider.region
        isPathStyle = false
        partByteCount = 8 << 20
        maximumConcurrentParts = 4
        parallelFileCount = 4
        let cache = value("XDG_CACHE_HOME") ?? value("HOME").map { $0 + "/.cache" }
        uploadFolder = cache.map { $0 + "/keel/uploads" }
    }

    /// The maximum number of requests to buckets at a time.
    package var connectionCount: Int { (maximumConcurrentParts + 1) * parallelFileCount }

    /// Returns credentials, to be shared by all adapters.
    func credentials(over transport: any HTTPTransport) -> AWSCredentialsChain {
        AWSCredentialsChain(
            AWSCredentialsChain.Configuration(environment: environment, profile: profile),
            transport: transport
        )
    }

    /// Returns the adapter of a bucket, which adds the keys that its lists leave out to `unlisted`.
    ///
    /// - Throws: `FileStoreError` for invalid settings, or `ToolError` if the provider needs an endpoint.
    func adapter(
        _ bucket: String,
        _ credentials: any AWSCredentialsProvider,
        over transport: any HTTPTransport,
        _ unlisted: UnlistedKeys
    ) throws -> S3FileStoreAdapter {
        if endpoint == nil, let advice = provider.endpointAdvice {
            throw ToolError(
                "the provider \(provider.rawValue) needs an endpoint",
                advice: advice,
                exit: .usage
            )
        }
        var configuration = S3FileStoreAdapter.Configuration(
            bucket: bucket,
            region: region,
            endpoint: endpoint,
            credentials: credentials
        )
        if isPathStyle { configuration.addressing = .path }
        if !provider.takesChecksums { configuration.checksum = nil }
        configuration.honorsConditions = provider.honorsConditions
        configuration.partByteCount = partByteCount
        configuration.maximumConcurrentParts = maximumConcurrentParts
        configuration.uploadFolder = uploadFolder
        if let rateLimit {
            // A piece of a body waits until one of each other request has passed, which is not the server's delay.
            let byteCount = connectionCount * Self.pieceByteCount
            configuration.timeouts.firstByte? += Duration.seconds(
                Double(byteCount) / Double(rateLimit.bytesPerSecond)
            )
        }
        configuration.onUnlistedKey = { unlisted.add("s3://\(bucket)/\($0)") }
        return try S3FileStoreAdapter(configuration, transport: transport)
    }
}

/// A service with S3's API.
package enum BucketProvider: String, Sendable, CaseIterable {
    case aws
    /// Cloudflare R2.
    case r2
    /// The XML API of Google Cloud Storage, with HMAC keys.
    case gcs
    case minio

    /// The default server; nil for AWS's of the region, or if there is none.
    var endpoint: String? { self == .gcs ? "https://storage.googleapis.com" : nil }

    var region: String { self == .r2 || self == .gcs ? "auto" : "us-east-1" }

    /// Advice for a missing endpoint; nil if none is needed.
    var endpointAdvice: String? {
        switch self {
        case .aws, .gcs: nil
        case .r2: "Add --endpoint https://ACCOUNT.r2.cloudflarestorage.com."
        case .minio: "Add --endpoint, such as http://127.0.0.1:9000."
        }
    }

    /// Whether a CRC-32C is sent for the server to verify.
    ///
    /// R2 takes a CRC-32C of a whole file only if it comes in one request, and GCS none:
    /// https://developers.cloudflare.com/r2/api/s3/api/#checksum-types
    var takesChecksums: Bool { self == .aws || self == .minio }

    /// Whether `If-Match` and `If-None-Match` of S3 hold for writes.
    var honorsConditions: Bool { self != .gcs }
}
