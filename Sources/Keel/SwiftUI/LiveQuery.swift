#if canImport(SwiftUI)
internal import KeelDependencies
public import KeelStorage
public import SwiftUI

/// The values that a query finds, in a view: listened to while the view is there, always current.
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
/// It begins by itself when the view is first shown, and ends with it. The store is the dependency
/// `storage`, or that of the collection which ``init(_:_:)`` takes. ``projectedValue`` is the
/// `LiveCollection`: its phase, its error, and `show(_:)` for another query, of a search for instance.
/// A parent that makes the view anew with another query changes what is shown; the values stay until the
/// new ones are there. With another collection the list begins anew.
@MainActor
@propertyWrapper
public struct LiveQuery<Item: Sendable>: DynamicProperty {
    @State private var state: LiveQueryState<Item>
    /// Makes the live collection of this query.
    let make: () -> LiveCollection<Item>
    /// Makes the query from that for all documents.
    let refine: (DocumentQuery) throws -> DocumentQuery
    /// The query; nil where it could not be made.
    let query: DocumentQuery?

    /// Creates the query over a collection, a collection group, or either with revisions.
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

    /// Creates the query over a collection of the dependency `storage`.
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

    /// Begins to listen, or changes the query; SwiftUI calls it before it reads the view's body.
    public nonisolated mutating func update() {
        let asked = self
        MainActor.assumeIsolated {
            asked.state.take(asked)
            asked.state.live.start()
        }
    }
}

/// What a view keeps of its query while it is there, although it is made anew again and again.
@MainActor
final class LiveQueryState<Item: Sendable> {
    private(set) var live: LiveCollection<Item>
    /// The query that the view was last made with.
    private var query: DocumentQuery?

    init(_ live: LiveCollection<Item>, _ query: DocumentQuery?) {
        self.live = live
        self.query = query
    }

    /// Changes what is shown if the view was made with another query than before.
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
