#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Things of one kind that are kept on this device, whatever keeps them.
///
/// Six plain requirements, of which two have a default, so that Core Data, SwiftData or Realm fit
/// behind it: see <doc:BringYourOwnDatabase>. ``CollectionDataSource`` keeps things in a
/// `StorageClient`, ``InMemoryDataSource`` in memory. A source promises that
///
/// - what was saved is found by every later call, until it is deleted;
/// - saving replaces what has the same id, and deleting what is not there is no error;
/// - one call of ``save(_:)`` or ``delete(_:)`` takes effect whole, or as far as its own page says.
///
/// Elements are DTOs of the store, not things of the domain: those are made by the repository.
public protocol LocalDataSource<Element>: Sendable {
    /// The type of the elements.
    associatedtype Element: Sendable

    /// Returns the element with an id, or nil.
    func find(_ id: String) async throws(DataSourceError) -> Element?

    /// Returns all elements, in an order of the source's own that stays the same.
    func findAll() async throws(DataSourceError) -> [Element]

    /// Returns the elements that fulfil a condition; by default, by looking at all.
    func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element]

    /// Keeps elements, in place of those with the same ids.
    func save(_ elements: [Element]) async throws(DataSourceError)

    /// Removes the elements with these ids.
    func delete(_ ids: [String]) async throws(DataSourceError)

    /// Removes everything.
    func removeAll() async throws(DataSourceError)
}

extension LocalDataSource {
    public func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element] {
        try await findAll().fulfilling(predicate)
    }

    /// Keeps one element, in place of one with the same id.
    public func save(_ element: Element) async throws(DataSourceError) { try await save([element]) }

    /// Removes the element with this id.
    public func delete(_ id: String) async throws(DataSourceError) { try await delete([id]) }
}
