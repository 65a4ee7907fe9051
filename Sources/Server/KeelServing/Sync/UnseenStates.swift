internal import KeelStorage
internal import KeelStorageAdapting

/// The documents with states that no page of a hub has shown, though readers may have seen them.
///
/// Such a state is between two changes that one page covers. Whether it matched a query is unknown, so the next change
/// of the document concerns all who may have read the state from the store. At a consistent point, the pages have shown
/// the last state of each document.
struct UnseenStates {
    /// The documents with such states since the last consistent point; nil if any may have some.
    private var skipped: Set<DocumentPath>? = []
    private var damaged: Set<DocumentPath> = []

    /// Records the states that a page skips, before its changes.
    mutating func begin(_ page: ChangePage) {
        skipped = page.skipped.flatMap { skipped?.union($0) }
    }

    /// Returns whether the document of the page's next change has a state that no page has shown.
    mutating func precede(_ change: ChangePage.Change) -> Bool {
        let wasDamaged = damaged.remove(change.path) != nil
        if case .unreadable = change {
            damaged.insert(change.path)
            return true
        }
        return wasDamaged || skipped?.contains(change.path) ?? true
    }

    mutating func end(_ page: ChangePage) {
        if page.isCaughtUp { skipped = [] }
    }
}
