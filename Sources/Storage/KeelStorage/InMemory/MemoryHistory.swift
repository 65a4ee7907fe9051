internal import KeelDocuments

struct MemoryHistory: Sendable {
    private struct Image: Sendable {
        let time: Timestamp
        let age: Duration
        let path: DocumentPath
        let document: Document?
    }

    private let age: Duration
    private var images: [Image] = []
    private var start = Timestamp(microseconds: 0)

    init(age: Duration) { self.age = age }

    /// Records the states of documents before the commit at `time`; `present` is the age of the store.
    mutating func note(
        _ before: [(DocumentPath, Document?)],
        before time: Timestamp,
        age present: Duration
    ) {
        images += before.map { Image(time: time, age: present, path: $0, document: $1) }
        let oldest = present - age
        // Removing many at once keeps the cost of shifting the array small.
        guard images.count > 64, images[images.count / 4].age < oldest else { return }
        let surplus = images.prefix { $0.age < oldest }
        start = surplus.last?.time ?? start
        images.removeFirst(surplus.count)
    }

    func check(_ time: Timestamp, latest: Timestamp) throws(StorageError) {
        guard time >= start else { throw .snapshotTooOld(time) }
        guard time.mayBeRead(at: latest) else { throw .notYet(time, present: latest) }
    }

    func documents(asOf time: Timestamp) -> [DocumentPath: Document?] {
        var documents: [DocumentPath: Document?] = [:]
        // The first change after the time replaced the state at that time.
        for image in images.reversed() {
            guard image.time > time else { break }
            documents[image.path] = .some(image.document)
        }
        return documents
    }
}
