internal import KeelDocuments

/// What the documents of a memory adapter were before they were changed.
struct MemoryHistory: Sendable {
    private struct Image: Sendable {
        let time: Timestamp
        /// How old the store was then.
        let age: Duration
        let path: DocumentPath
        /// The document until this time; nil if there was none.
        let document: Document?
    }

    private let age: Duration
    /// In the order of their times.
    private var images: [Image] = []
    /// The earliest time whose state is known: there is no image of a later change that is gone.
    private var start = Timestamp(microseconds: 0)

    init(age: Duration) { self.age = age }

    /// Notes what documents were until a commit.
    ///
    /// - Parameters:
    ///   - before: The documents.
    ///   - time: The store's time of the commit.
    ///   - present: How old the store is, by a clock that nobody sets.
    mutating func note(
        _ before: [(DocumentPath, Document?)],
        before time: Timestamp,
        age present: Duration
    ) {
        images += before.map { Image(time: time, age: present, path: $0, document: $1) }
        let oldest = present - age
        // Removing in larger steps keeps the cost of moving the array small.
        guard images.count > 64, images[images.count / 4].age < oldest else { return }
        let surplus = images.prefix { $0.age < oldest }
        start = surplus.last?.time ?? start
        images.removeFirst(surplus.count)
    }

    /// Refuses a time whose state is not known.
    func check(_ time: Timestamp, latest: Timestamp) throws(StorageError) {
        guard time >= start else { throw .snapshotTooOld(time) }
        guard time <= latest else { throw .notYet(time, present: latest) }
    }

    /// The documents that were others at a time, as they were.
    func documents(asOf time: Timestamp) -> [DocumentPath: Document?] {
        var documents: [DocumentPath: Document?] = [:]
        // The first change after the time replaced what was there then.
        for image in images.reversed() {
            guard image.time > time else { break }
            documents[image.path] = .some(image.document)
        }
        return documents
    }
}
