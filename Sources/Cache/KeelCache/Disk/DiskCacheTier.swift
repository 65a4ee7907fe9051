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
/// Entries are appended to a log; large values have their own files. An abrupt end leaves:
///
/// | what ended | accepted entries | removed entries |
/// |---|---|---|
/// | process, even by `kill -9` | present from the call's return | gone from the call's return |
/// | power or system | the newest can be missing; no entry is incomplete | gone once ``flush()`` returned |
///
/// Writing an entry does not sync it to the disk. Removals are synced by ``flush()``, ``close()``, and the occasional
/// write that saves the index. Damaged contents are never returned, and do not prevent opening the folder.
///
/// | property | behavior |
/// |---|---|
/// | value larger than the limit | not kept: the write succeeds and removes the old entry |
/// | large values | in files, sealed and checked in pieces of 64 KiB |
/// | several users of a folder | refused with `folderInUse`, within and between processes |
/// | deleted folder | the next write or removal starts an empty one |
///
/// The oldest entries are evicted first; those read since they were written are kept a round longer, up to half of a
/// segment. Changes wait for the disk on one thread per folder, and reads on one queue for all folders. Large values
/// are written, and those written as files are read, in the caller's task, whose thread waits for the disk.
///
/// A value written as bytes is read as bytes, and one written as a file as a file. Memory use is about 50 bytes per
/// entry, whatever its key and value.
public final class DiskCacheTier: CacheTier {
    private let store: DiskStore
    private let writer: DiskCacheWriter

    /// Opens a folder, creating it if it does not exist.
    ///
    /// - Parameters:
    ///   - folder: The folder, for this tier alone.
    ///   - configuration: The settings.
    /// - Throws: ``CacheError`` with the code `folderInUse` if the folder is open elsewhere, `permissionDenied` if it
    ///   cannot be read or written, `invalidArgument` for a limit below 16 KiB, or `diskFull` or `unavailable` if it
    ///   cannot be created.
    public convenience init(
        at folder: URL,
        configuration: Configuration = Configuration()
    ) throws(CacheError) {
        try self.init(path: folder.path, configuration: configuration)
    }

    /// Opens a folder by its path, which must not end with a slash.
    package init(path: String, configuration: Configuration) throws(CacheError) {
        guard configuration.byteLimit >= 16 << 10 else {
            throw CacheError(.invalidArgument, "the limit of the disk tier is below 16 KiB")
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

    /// Saves the index and releases the folder.
    ///
    /// Without this call nothing is lost, but the next opening takes longer. Later calls throw `unavailable`. Files
    /// returned by earlier reads stay readable.
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
