#if Crypto
public import KeelCore
public import KeelFiles
public import KeelHTTP

extension S3FileStoreAdapter {
    /// Where the name of the bucket stands in an address.
    public enum Addressing: String, Hashable, Sendable, CaseIterable {
        /// In the path, `https://host/bucket/key`: most servers that are not AWS's.
        case path
        /// In front of the host, `https://bucket.host/key`: AWS.
        case virtualHost
    }

    /// What signatures say about the bodies of requests.
    public enum PayloadSigning: String, Hashable, Sendable, CaseIterable {
        /// Their SHA-256 over plain connections, nothing over TLS, which guards them already.
        case overPlainConnections
        /// Their SHA-256, always.
        case always
    }

    /// Which bucket of which server, and how it is used.
    public struct Configuration: Sendable {
        /// The smallest part that S3 takes, the last one of a file aside: 5 MiB.
        public static let smallestPartByteCount = 5 << 20

        /// The bucket.
        public var bucket: String
        /// The region that the bucket is in.
        public var region: String
        /// The server, such as `http://127.0.0.1:9000`; nil is AWS's in the region.
        public var endpoint: String?
        /// Where the name of the bucket stands; nil is in front of AWS's hosts, unless it has a
        /// dot, and in the path for any other.
        public var addressing: Addressing?
        /// The folder of the bucket that is the root of the store.
        public var root = FileStoreFolder.root
        /// What requests are signed with.
        public var credentials: any AWSCredentialsProvider
        /// What signatures say about the bodies of requests.
        public var payloadSigning = PayloadSigning.overPlainConnections
        /// The checksum that goes along with a file, for the server to compare and to keep; nil
        /// for servers that refuse the field.
        ///
        /// S3 keeps one of a whole file that was put in parts for CRC-32C alone.
        public var checksum: FileChecksum.Algorithm? = .crc32c
        /// Whether the server obeys `If-Match` and `If-None-Match` on writes.
        ///
        /// AWS's does. For one that ignores them say false: calls with a condition are then refused
        /// with `unsupported`, where they would overwrite what they must not.
        public var honoursConditions = true
        /// How many bytes a part has, at least ``smallestPartByteCount``; 8 MiB unless set.
        ///
        /// Files up to this size are put in one request. The parts of a file that has more than
        /// 10,000 of them are larger. `URLSessionTransport` sends at most 64 MiB in one request: with
        /// it, keep below that, and put no file above 640 GB.
        public var partByteCount = 8 << 20
        /// How many parts are on their way at a time, at least 1.
        ///
        /// Putting takes so many parts of memory, and one more.
        public var parallelPartCount = 4
        /// A folder of the machine for the notes of unfinished uploads; nil keeps none.
        ///
        /// With it, a put that failed or was killed goes on where it was when the same file is put
        /// at the same path again: parts whose bytes are the same are not sent again. Without it, a
        /// put that fails takes back what it had sent.
        public var uploadFolder: String?
        /// How often and how patiently requests are repeated.
        public var retry = RetryPolicy(attempts: 4)
        /// The limits of one request.
        ///
        /// How long a body takes to be sent counts against none of them. A request whose body does
        /// not move any more is given up after `firstByte` and the time that its bytes take at
        /// 16 KiB a second, because transports and systems take bytes before they are sent.
        public var timeouts = HTTPTimeouts(firstByte: .seconds(60), idle: .seconds(30))

        /// Creates the usual configuration.
        ///
        /// - Parameters:
        ///   - bucket: The bucket.
        ///   - region: The region that it is in.
        ///   - endpoint: The server; nil is AWS's in the region.
        ///   - credentials: What requests are signed with; the environment's unless set.
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
