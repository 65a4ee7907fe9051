#if Crypto
internal import HTTPTypes
public import KeelFiles
public import KeelHTTP

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An adapter that keeps files as the objects of a bucket: of AWS's S3, or of a server like it.
///
/// ```swift
/// let bucket = S3FileStoreAdapter.Configuration(bucket: "photos", region: "eu-central-1")
/// let files = FileStore(try S3FileStoreAdapter(bucket, transport: transport))
/// ```
///
/// The interface is that of docs.aws.amazon.com/AmazonS3/latest/API, the paths of files are the
/// keys of objects. Files that are larger than ``Configuration/partByteCount`` are put in parts,
/// several at a time. Requests are repeated here as far as that is safe; a call with a condition is
/// not when nobody knows whether it took effect.
///
/// What S3 does in another way than a folder:
///
/// - A version is the object's entity tag. Where that is a hash of the bytes, putting the same
///   bytes again gives the same version: the capabilities lack `distinctVersions`.
/// - A move is a copy and a deletion: when it is interrupted between them, there are two files.
/// - ``transfer(_:)`` and ``delete(_:if:)`` ask for the object before they act. Their conditions
///   are also told to the server, which has the last word.
/// - A key that is no path of a file, such as `a//b` or the `a/` that stands for a folder in some
///   tools, is not listed.
public struct S3FileStoreAdapter: FileStoreAdapter {
    /// S3 copies so many bytes in one request at most: 5 GiB.
    static let largestCopy = 5 << 30

    /// The adapter's settings.
    public let configuration: Configuration

    let connection: S3Connection
    /// The largest object that is copied in one request, and how much each part of a larger has.
    let copyByteCount: Int

    /// Creates an adapter; nothing is sent before its first call.
    ///
    /// - Parameters:
    ///   - configuration: Which bucket of which server.
    ///   - transport: What carries the requests.
    /// - Throws: `FileStoreError` with the code `invalidArgument` for a configuration that cannot
    ///   be right.
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
        guard configuration.partByteCount >= Configuration.smallestPartByteCount,
            configuration.partByteCount <= 5 << 30, configuration.parallelPartCount >= 1
        else {
            throw FileStoreError(
                .invalidArgument,
                "A part has 5 MiB to 5 GiB, and at least one is on its way at a time."
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
        if configuration.honoursConditions { capabilities.insert(.conditionsAcrossProcesses) }
        return capabilities
    }

    /// The key of a file.
    func key(_ path: FileStorePath) -> String { configuration.root.prefix + path.string }

    /// The key of a file, without the error of a path that is too long below the root.
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
            throw error.error(of: "Asking for “\(path)”")
        }
    }

    /// What is known of an object; nil where there is none.
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
            // HEAD has no body to say why in: the same question, for one byte, has.
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

    /// Refuses a condition where the server would not keep to it.
    func refuseIfIgnored(_ condition: FileCondition) throws(FileStoreError) {
        guard condition != .none, !configuration.honoursConditions else { return }
        throw FileStoreError(
            .unsupported,
            "The server ignores conditions, as the adapter's configuration says."
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
    /// What a call throws whose condition held when it began, and no more when it ended.
    static func changedMeanwhile(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(
            .conditionFailed,
            "The condition for “\(path)” fails: the file is another, or gone."
        )
    }
}
#else
/// An adapter that keeps files as the objects of a bucket, which needs the trait `Crypto`.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct S3FileStoreAdapter: Sendable {}
#endif
