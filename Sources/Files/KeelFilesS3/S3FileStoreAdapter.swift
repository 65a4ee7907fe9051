#if Crypto
internal import HTTPTypes
public import KeelFiles
public import KeelHTTP

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An adapter that stores files as objects of a bucket in AWS S3 or a compatible server.
///
/// ```swift
/// let bucket = S3FileStoreAdapter.Configuration(bucket: "photos", region: "eu-central-1")
/// let files = FileStore(try S3FileStoreAdapter(bucket, transport: transport))
/// ```
///
/// The API is that of docs.aws.amazon.com/AmazonS3/latest/API, and paths of files are keys of objects. Files larger
/// than ``Configuration/partByteCount`` are uploaded in parts, several at a time. The adapter retries requests where
/// that is safe; a call with a condition is not retried when its outcome is unknown.
///
/// S3 differs from a folder as follows:
///
/// - A version is the object's entity tag. If that is a hash of the bytes, writing the same bytes again gives the same
///   version: the capabilities lack `distinctVersions`.
/// - A move is a copy followed by a deletion: if it is interrupted in between, both files exist.
/// - ``transfer(_:)`` and ``delete(_:if:)`` request the object and check the condition before they act. The server
///   checks it again, except for a deletion with the condition `present`.
/// - A key that is not a valid path, such as `a//b`, is not listed; ``Configuration/onUnlistedKey`` reports it. Nor is
///   `a/`, which represents a folder in some tools.
public struct S3FileStoreAdapter: FileStoreAdapter {
    /// The maximum size that S3 copies in one request: 5 GiB.
    static let largestCopy = 5 << 30

    /// The adapter's configuration.
    public let configuration: Configuration

    let connection: S3Connection
    let copyByteCount: Int

    /// Creates an adapter without sending a request; throws `invalidArgument` or `invalidPath` for an invalid
    /// configuration.
    public init(
        _ configuration: Configuration,
        transport: any HTTPTransport
    ) throws(FileStoreError) {
        try self.init(
            configuration,
            transport: transport,
            clock: ContinuousClock(),
            now: { Date() }
        )
    }

    package init(
        _ configuration: Configuration,
        transport: any HTTPTransport,
        clock: any Clock<Duration>,
        watchClock: any Clock<Duration> = ContinuousClock(),
        copyByteCount: Int = largestCopy,
        now: @escaping @Sendable () -> Date
    ) throws(FileStoreError) {
        guard configuration.partByteCount >= Configuration.minimumPartByteCount,
            configuration.partByteCount <= 5 << 30, configuration.maximumConcurrentParts >= 1
        else {
            throw FileStoreError(
                .invalidArgument,
                "A part must have 5 MiB to 5 GiB, and the number of concurrent parts must be at least 1."
            )
        }
        try configuration.root.check()
        self.configuration = configuration
        self.copyByteCount = copyByteCount
        connection = try S3Connection(
            configuration,
            transport: transport,
            clock: clock,
            watchClock: watchClock,
            now: now
        )
    }

    public var capabilities: FileStoreCapabilities {
        var capabilities: FileStoreCapabilities = [
            .persistent, .survivesPowerFailure, .attributes, .distinguishesCase,
            .filesBesideFolders,
        ]
        if configuration.honorsConditions { capabilities.insert(.conditionsAcrossProcesses) }
        return capabilities
    }

    func key(_ path: FileStorePath) -> String { configuration.root.prefix + path.string }

    /// Returns the key of a file, or throws if it is too long below the root.
    func checkedKey(_ path: FileStorePath) throws(FileStoreError) -> String {
        let key = key(path)
        guard key.utf8.count <= FileStorePath.maximumByteCount else {
            throw FileStoreError(
                .invalidPath,
                "“\(path)” is longer than \(FileStorePath.maximumByteCount) bytes below the root."
            )
        }
        return key
    }

    // MARK: Metadata

    public func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata? {
        do throws(S3Failure) {
            return try await object(at: path, try keyOf(path))
        } catch {
            throw error.error(of: "Requesting the metadata of “\(path)”")
        }
    }

    func object(at path: FileStorePath, _ key: String) async throws(S3Failure) -> FileMetadata? {
        var call = S3Call(.head, key)
        call.fields = [(name: "x-amz-checksum-mode", value: "ENABLED")]
        do throws(S3Failure) {
            let head = try await connection.head(of: call)
            return try S3Object.metadata(of: path, head.headerFields)
        } catch {
            guard let refusal = error.refusal else { throw error }
            if refusal.isMissing { return nil }
            guard refusal.isUnexplained else { throw error }
            // The reply to HEAD has no body to explain the reason, so request one byte with GET.
            var call = S3Call(.get, key)
            call.fields = [(name: "range", value: "bytes=0-0")]
            let head = try await connection.head(of: call)
            return try S3Object.metadata(of: path, head.headerFields)
        }
    }

    func keyOf(_ path: FileStorePath) throws(S3Failure) -> String {
        do throws(FileStoreError) {
            return try checkedKey(path)
        } catch {
            throw .failed(error)
        }
    }

    // MARK: Removing

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try refuseIfIgnored(condition)
        do throws(S3Failure) {
            let key = try keyOf(path)
            let object = try await object(at: path, key)
            try check(condition, path, object?.version)
            guard object != nil else { return false }
            var call = S3Call(.delete, key)
            if case .version(let version) = condition {
                call.fields = [S3Object.ifMatch(version)]
                call.isRepeatable = false
            }
            _ = try await connection.head(of: call)
            return true
        } catch {
            if let refusal = error.refusal, condition != .none,
                refusal.isFailedCondition || refusal.isMissing
            {
                throw FileStoreError.changedMeanwhile(path)
            }
            throw error.error(of: "Deleting “\(path)”", isWrite: true)
        }
    }

    // MARK: Conditions

    func refuseIfIgnored(_ condition: FileCondition) throws(FileStoreError) {
        guard condition != .none, !configuration.honorsConditions else { return }
        throw FileStoreError(
            .unsupported,
            "The server ignores conditions, according to the adapter's configuration."
        )
    }

    func check(
        _ condition: FileCondition,
        _ path: FileStorePath,
        _ version: FileVersion?
    ) throws(S3Failure) {
        do throws(FileStoreError) {
            try condition.check(path, version)
        } catch {
            throw .failed(error)
        }
    }
}

extension FileStoreError {
    static func changedMeanwhile(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(
            .conditionFailed,
            "The condition on “\(path)” does not hold: the file was replaced or removed."
        )
    }
}
#else
/// An adapter that stores files as objects of a bucket; requires the trait `Crypto`.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct S3FileStoreAdapter: Sendable {}
#endif
