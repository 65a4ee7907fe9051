internal import KeelCore
internal import Synchronization

/// The file of a large value until a record refers to it.
///
/// If released before that, it removes the file.
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

    var diskByteCount: Int { byteCount.load(ordering: .acquiring) }

    func reserve(_ count: Int) throws(CacheError) {
        try store.reserve(count)
        byteCount.add(count, ordering: .acquiringAndReleasing)
    }

    /// Gives the file its final name, for a record that will refer to it.
    ///
    /// - Returns: Whether the caller now owns it. If false, another caller owned it already or the folder was deleted,
    ///   and the value must be copied.
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
            throw CacheError(error, "a large value could not be stored")
        }
        return true
    }

    /// Marks that a record refers to the file, which the index now owns.
    func notePublished() { isPublished.store(true, ordering: .releasing) }

    /// Removes an adopted file, unless a record refers to it after all.
    func abandon() {
        guard !isPublished.load(ordering: .acquiring) else { return }
        try? store.files.remove(store.names.value(id))
        store.release(diskByteCount)
    }
}
