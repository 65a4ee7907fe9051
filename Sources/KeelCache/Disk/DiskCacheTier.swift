internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A tier that keeps its entries in a folder.
///
/// ```swift
/// let tier = try DiskCacheTier(at: cachesFolder.appending(path: "Images"))
/// ```
///
/// Entries are appended to segments of a log; large values have files of their own. What the folder
/// holds after an abrupt end:
///
/// | what ended | what was accepted | what was removed |
/// |---|---|---|
/// | the process, `kill -9` included | is there as soon as the call returned | stays removed as soon as the call returned |
/// | the power, or the system | the newest may be missing; nothing is half there | stays removed once ``flush()`` returned |
///
/// An entry never waits for the disk; only a ``flush()`` after a removal does. Damaged contents
/// never fail an opening, and are never returned.
///
/// | promise | here |
/// |---|---|
/// | byte limit | held at every moment, save for one segment; the oldest entries make room, those that were read since are kept a round longer |
/// | large values | in files, sealed and checked in pieces of 64 KiB |
/// | several users of a folder | refused with `folderInUse`, in one process and between processes |
/// | threads | changes wait for the disk on a thread of the folder's own, reads of an entry on those of one queue for all folders; the next 64 KiB of a large value that is read as a file on the caller's |
/// | the folder is deleted | goes on with an empty one at the next write or removal |
///
/// A value that was written as bytes is read as bytes, one that was written as a file as a file.
/// Memory: about 50 bytes an entry, whatever its key and value.
public final class DiskCacheTier: CacheTier {
    private let store: DiskStore
    private let writer: DiskCacheWriter

    /// Opens a folder, which is made where it is missing.
    ///
    /// - Parameters:
    ///   - folder: The folder; the tier shares it with nobody.
    ///   - configuration: The settings.
    /// - Throws: ``CacheError`` with the code `folderInUse` while somebody else has it open,
    ///   `permissionDenied` when it may not be written, `invalidArgument` for a limit below 16 KiB.
    public convenience init(
        at folder: URL,
        configuration: Configuration = Configuration()
    ) throws(CacheError) {
        try self.init(path: folder.path, configuration: configuration)
    }

    /// Opens a folder by its path.
    ///
    /// - Parameters:
    ///   - path: The folder, without a slash at the end.
    ///   - configuration: The settings.
    /// - Throws: ``CacheError``, as the other initialiser.
    package init(path: String, configuration: Configuration) throws(CacheError) {
        guard configuration.byteLimit >= 16 << 10 else {
            throw CacheError(.invalidArgument, "the limit of a disk tier is below 16 KiB")
        }
        let names = FolderNames(folder: path)
        let lock: any FileLock
        do throws(FileSystemError) {
            try configuration.fileSystem.makeFolder(path)
            lock = try configuration.fileSystem.lock(names.lock)
        } catch {
            let what = error.kind == .busy ? "is in use" : "could not be opened"
            throw CacheError(error, "the cache’s folder \(what)")
        }
        let recovery = try DiskRecovery(names, configuration)
        store = DiskStore(recovery)
        writer = DiskCacheWriter(store, recovery, lock: lock)
    }

    /// Writes down where everything is, and lets go of the folder.
    ///
    /// Nothing is lost without it; the next opening is quicker with it. Later calls throw the code
    /// `unavailable`. Files that were read before stay readable.
    public func close() async { await writer.close() }

    // MARK: CacheTier

    @concurrent
    public func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        try await DiskRead(key, in: store).record()
    }

    @concurrent
    public func write(_ records: [CacheRecord]) async throws(CacheError) {
        var intake = DiskIntake(store)
        if records.contains(where: { intake.makesFile(of: $0.body) }) {
            try await writer.ensureFolder()
        }
        do throws(CacheError) {
            for record in records { try intake.take(record) }
            try await writer.append(intake.records)
        } catch {
            intake.abandon()
            throw error
        }
    }

    @concurrent
    public func remove(_ selection: CacheSelection) async throws(CacheError) {
        let codec = store.codec
        switch selection {
        case .keys(let keys):
            var hashes: [UInt64] = []
            for key in keys { hashes.append(codec.hash.hash(try codec.storedKey(key))) }
            try await writer.remove(.keys(hashes))
        case .tag(let tag):
            guard tag.utf8.count <= RecordCodec.longestKey else { return }
            try await writer.remove(.tag(try codec.storedTag(tag)))
        case .expired(let time):
            try await writer.remove(.expired(time.microseconds))
        case .everything:
            try await writer.remove(.everything)
        }
    }

    public func flush() async throws(CacheError) { try await writer.flush() }

    @concurrent
    public func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        try await writer.ensureFolder()
        return try LargeValueWriter(in: store)
    }

    public func usage() async throws(CacheError) -> CacheTierUsage {
        var usage = CacheTierUsage(
            byteLimit: store.byteLimit,
            hitCount: store.hitCount.load(ordering: .relaxed),
            missCount: store.missCount.load(ordering: .relaxed),
            damagedCount: store.damageCount
        )
        let isClosed = store.index.withLock { index in
            usage.entryCount = index.entryCount
            usage.byteCount = index.byteCount
            usage.evictionCount = index.evictionCount
            return index.isClosed
        }
        guard !isClosed else { throw .closed }
        return usage
    }
}
