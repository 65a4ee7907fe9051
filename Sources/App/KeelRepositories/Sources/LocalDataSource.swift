#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store of elements of one kind on this device.
///
/// See <doc:BringYourOwnDatabase> for Core Data, SwiftData and Realm. A source promises that
///
/// - a saved element is found by every later call, until it is deleted;
/// - saving replaces an element with the same id, and deleting a missing one is not an error;
/// - a call of ``save(_:)`` or ``delete(_:)`` is atomic, unless its documentation says otherwise.
///
/// Elements are DTOs; the repository makes domain values from them.
public protocol LocalDataSource<Element>: Sendable {
    /// The type of the elements.
    associatedtype Element: Sendable

    /// Returns the element with an id; nil if there is none.
    func find(_ id: String) async throws(DataSourceError) -> Element?

    /// Returns all elements, in a stable order.
    func findAll() async throws(DataSourceError) -> [Element]

    /// Returns the elements that match a predicate; the default implementation checks every element.
    func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element]

    /// Saves elements, replacing those with the same ids.
    func save(_ elements: [Element]) async throws(DataSourceError)

    /// Deletes the elements with these ids.
    func delete(_ ids: [String]) async throws(DataSourceError)

    /// Deletes all elements.
    func removeAll() async throws(DataSourceError)
}

extension LocalDataSource {
    public func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element] {
        try await findAll().fulfilling(predicate)
    }

    /// Saves an element, replacing one with the same id.
    public func save(_ element: Element) async throws(DataSourceError) { try await save([element]) }

    /// Deletes the element with this id.
    public func delete(_ id: String) async throws(DataSourceError) { try await delete([id]) }
}
