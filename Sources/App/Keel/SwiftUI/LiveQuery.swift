#if canImport(SwiftUI)
internal import KeelDependencies
public import KeelStorage
public import SwiftUI

/// The results of a query in a view, kept current while the view exists.
///
/// ```swift
/// // SwiftUI
/// struct NoteList: View {
///     @LiveQuery("notes", as: Note.self, { $0.order(by: "text") }) var notes
///
///     var body: some View {
///         List(notes) { Text($0.text) }
///     }
/// }
/// ```
///
/// The query starts when the view is first shown, and ends with the view. The store is the dependency `storage`, or
/// that of the collection passed to ``init(_:_:)``. ``projectedValue`` is the `LiveCollection`, with its phase, its
/// error, and `show(_:)` to change the query. If a parent recreates the view with another query, the values stay until
/// the new ones arrive; with another collection the list starts over.
@MainActor
@propertyWrapper
public struct LiveQuery<Item: Sendable>: DynamicProperty {
    @State private var state: LiveQueryState<Item>
    let make: () -> LiveCollection<Item>
    /// Derives the query from the query for all documents.
    let refine: (DocumentQuery) throws -> DocumentQuery
    let query: DocumentQuery?

    /// Creates a query over a collection, a collection group, or either with revisions.
    public init(
        _ documents: some TypedDocuments<Item>,
        _ refine: @escaping (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) {
        let make = { LiveCollection(documents, refine) }
        let query = try? refine(documents.everything)
        self.make = make
        self.refine = refine
        self.query = query
        _state = State(initialValue: LiveQueryState(make(), query))
    }

    /// Creates a query over a collection of the dependency `storage`.
    public init(
        _ path: CollectionPath,
        as type: Item.Type,
        _ refine: @escaping (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) where Item: Codable {
        @Dependency(\.storage) var storage
        self.init(storage.collection(path, as: type), refine)
    }

    /// The values, in the query's order.
    public var wrappedValue: [Item] { state.live.items }

    /// The live collection behind the values.
    public var projectedValue: LiveCollection<Item> { state.live }

    /// Starts listening, or changes the query; SwiftUI calls it before the view's body.
    public nonisolated mutating func update() {
        let asked = self
        MainActor.assumeIsolated {
            asked.state.take(asked)
            asked.state.live.start()
        }
    }
}

/// The state of a view's query, which persists while the view is recreated.
@MainActor
final class LiveQueryState<Item: Sendable> {
    private(set) var live: LiveCollection<Item>
    private var query: DocumentQuery?

    init(_ live: LiveCollection<Item>, _ query: DocumentQuery?) {
        self.live = live
        self.query = query
    }

    func take(_ asked: LiveQuery<Item>) {
        guard asked.query != query else { return }
        if let query, query.scope == asked.query?.scope {
            live.show(asked.refine)
        } else {
            live = asked.make()
        }
        query = asked.query
    }
}
#endif
