#if Crypto
public import KeelCore
public import KeelFiles
public import KeelHTTP

extension S3FileStoreAdapter {
    /// The position of the bucket name in an address.
    public enum Addressing: String, Hashable, Sendable, CaseIterable {
        /// In the path, `https://host/bucket/key`, as for most servers other than AWS.
        case path
        /// In front of the host, `https://bucket.host/key`, as for AWS.
        case virtualHost
    }

    /// How much of request bodies signatures cover.
    public enum PayloadSigning: String, Hashable, Sendable, CaseIterable {
        /// Signatures include the SHA-256 of bodies over plain connections, but not over TLS, which protects them.
        case overPlainConnections
        /// Signatures always include the SHA-256 of bodies.
        case always
    }

    /// The bucket of an adapter, and how it is used.
    public struct Configuration: Sendable {
        /// The minimum size of a part except the last one of a file: 5 MiB.
        public static let minimumPartByteCount = 5 << 20

        /// The name of the bucket.
        public var bucket: String
        /// The region of the bucket.
        public var region: String
        /// The address of the server, such as `http://127.0.0.1:9000`; nil for AWS in the region.
        public var endpoint: String?
        /// The position of the bucket name; nil for in front of AWS's host if the name has no dot, and otherwise in the
        /// path.
        public var addressing: Addressing?
        /// The folder of the bucket that is the root of the store.
        public var root = FileStoreFolder.root
        /// The credentials that sign requests.
        public var credentials: any AWSCredentialsProvider
        /// How much of request bodies signatures cover.
        public var payloadSigning = PayloadSigning.overPlainConnections
        /// The checksum that is sent with a file, for the server to verify and store; nil for servers that refuse the
        /// field.
        ///
        /// Of a file uploaded in parts, S3 keeps only a CRC-32C.
        public var checksum: FileChecksum.Algorithm? = .crc32c
        /// Whether the server honors `If-Match` and `If-None-Match` on writes, as AWS does.
        ///
        /// If false, calls with a condition fail with `unsupported` instead of overwriting a file.
        public var honorsConditions = true
        /// The size of a part in bytes, from ``minimumPartByteCount`` to 5 GiB; 8 MiB by default.
        ///
        /// Files up to this size are uploaded in one request, and up to twice this size read in one. Parts are larger
        /// if a file would have more than 10,000 of them. `URLSessionTransport` sends at most 64 MiB in one request:
        /// with that transport, use smaller parts, and no file above 640 GB.
        public var partByteCount = 8 << 20
        /// The maximum number of parts of one file that are written or read concurrently, at least 1; 4 by default.
        ///
        /// A write or a read needs memory for this many parts plus one. With 1, a file is read in one request, which
        /// needs no memory for parts; use it for a server that ignores `Range`.
        public var maximumConcurrentParts = 4
        /// A folder on disk that records unfinished uploads; nil records none.
        ///
        /// With a folder, an upload that failed or was killed resumes when the same file is written to the same path
        /// again: parts with the same bytes are not sent again. Without one, a failed upload removes the parts that
        /// were sent, and a killed one leaves them. An encrypted file differs each time, so it does not resume.
        public var uploadFolder: String?
        /// The retry policy of requests; 4 attempts by default.
        public var retry = RetryPolicy(attempts: 4)
        /// The timeouts of one request, of which only `firstByte` and `idle` apply.
        ///
        /// `firstByte` does not count the time of sending a body of more than 64 KiB. Such a request is canceled if its
        /// body stalls for `firstByte` plus the time that its bytes take at 16 KiB per second, at the latest after
        /// twice that time.
        public var timeouts = HTTPTimeouts(firstByte: .seconds(60), idle: .seconds(30))

        /// Called with each key that a list leaves out because it is not a valid file path, such as `a//b`, or with the
        /// common beginning of such keys; nil for nothing.
        ///
        /// A key can be reported more than once. Empty objects whose keys end with `/`, which represent folders in some
        /// tools, are not reported.
        public var onUnlistedKey: (@Sendable (String) -> Void)?

        /// Creates the default configuration of a bucket.
        public init(
            bucket: String,
            region: String,
            endpoint: String? = nil,
            credentials: any AWSCredentialsProvider = EnvironmentAWSCredentials()
        ) {
            self.bucket = bucket
            self.region = region
            self.endpoint = endpoint
            self.credentials = credentials
        }
    }
}
#endif
