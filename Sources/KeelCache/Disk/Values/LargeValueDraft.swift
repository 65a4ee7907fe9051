internal import KeelCore
internal import Synchronization

/// The file of a large value until a record leads to it.
///
/// Who lets go of it before that leaves nothing behind.
final class LargeValueDraft: Sendable {
    let id: UInt64
    private let store: DiskStore
    private let byteCount = Atomic<Int>(0)
    private let isAdopted = Atomic<Bool>(false)
    private let isPublished = Atomic<Bool>(false)

    init(id: UInt64, in store: DiskStore) {
        self.id = id
        self.store = store
    }

    deinit {
        guard !isAdopted.load(ordering: .acquiring) else { return }
        try? store.files.remove(store.names.unfinishedValue(id))
        store.release(byteCount.load(ordering: .acquiring))
    }

    /// How many bytes it takes on disk.
    var diskByteCount: Int { byteCount.load(ordering: .acquiring) }

    /// Makes room for more bytes.
    func reserve(_ count: Int) throws(CacheError) {
        try store.reserve(count)
        byteCount.add(count, ordering: .acquiringAndReleasing)
    }

    /// Gives the file its name, for a record that will lead to it.
    ///
    /// - Returns: Whether the caller has it now; otherwise somebody had it before, or somebody
    ///   deleted the folder, and the value has to be copied.
    /// - Throws: ``CacheError`` when the file cannot be renamed.
    func adopt() throws(CacheError) -> Bool {
        guard
            isAdopted.compareExchange(
                expected: false,
                desired: true,
                ordering: .acquiringAndReleasing
            ).exchanged
        else { return false }
        do throws(FileSystemError) {
            try store.files.rename(store.names.unfinishedValue(id), to: store.names.value(id))
        } catch {
            isAdopted.store(false, ordering: .releasing)
            if error.kind == .notFound { return false }
            throw CacheError(error, "a large value could not be kept")
        }
        return true
    }

    /// Notes that a record leads to the file, which belongs to the index from here on.
    func notePublished() { isPublished.store(true, ordering: .releasing) }

    /// Gives an adopted file up again, unless a record leads to it after all.
    func abandon() {
        guard !isPublished.load(ordering: .acquiring) else { return }
        try? store.files.remove(store.names.value(id))
        store.release(diskByteCount)
    }
}
