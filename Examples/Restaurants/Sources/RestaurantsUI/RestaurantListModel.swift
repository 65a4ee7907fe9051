public import Observation
public import RestaurantsDomain

/// The list of restaurants.
///
/// Earlier content stays on the screen during a refresh. If the refresh fails, ``notice`` says that the content may be
/// out of date.
@MainActor
@Observable
public final class RestaurantListModel {
    /// The order of the list.
    public enum Order: Hashable, Sendable, CaseIterable {
        /// By name.
        case name
        /// Nearest first, without restaurants whose place is unknown.
        case distance
    }

    /// The restaurants.
    public private(set) var content = ScreenContent<[RestaurantRow]>.loading
    /// The failure of a refresh or of a favourite while content is shown.
    public private(set) var notice: ScreenFailure?
    /// Whether a reload of the shown content failed.
    public private(set) var isStale = false
    /// The order; call ``load()`` after a change.
    public var order = Order.name

    private let session: SessionModel
    private var useCases: UseCases { session.useCases }
    /// The number of the last load, which identifies late results of earlier ones.
    private var loads = 0

    /// Creates the list for the signed-in user.
    public init(_ session: SessionModel) {
        self.session = session
    }

    /// Shows what is on this device, or loads it from the service the first time.
    public func load() async {
        loads += 1
        let load = loads
        if case .failed = content { content = .loading }
        do throws(DomainError) {
            let rows = try await rows()
            guard load == loads else { return }
            content = .list(rows)
        } catch {
            guard load == loads else { return }
            fail(error)
        }
    }

    /// Reloads all restaurants from the service.
    public func refresh() async {
        do throws(DomainError) {
            _ = try await useCases.refresh()
            (notice, isStale) = (nil, false)
            await load()
        } catch {
            guard error.kind != .cancelled else { return }
            // The content on this device is better than none.
            if content.value == nil { await load() }
            fail(error)
            isStale = content.value != nil
        }
    }

    /// Adds or removes a favourite; the screen reverts the change if that fails.
    public func toggleFavourite(_ id: RestaurantID) async {
        guard let row = content.value?.first(where: { $0.id == id }) else { return }
        let wanted = !row.isFavourite
        mark(id, wanted)
        let toggle = FavouriteToggle(useCase: useCases.toggleFavourite)
        if let error = await toggle.set(wanted, id, for: session.userID) {
            mark(id, !wanted)
            notice = ScreenFailure(error)
        }
    }

    /// Removes the notice from the screen.
    public func dismissNotice() { notice = nil }

    // MARK: Parts

    private func rows() async throws(DomainError) -> [RestaurantRow] {
        let liked = Set(
            try await useCases.listFavourites(for: session.userID).map(\.favourite.restaurant)
        )
        switch order {
        case .name:
            return try await useCases.list().map {
                RestaurantRow($0, isFavourite: liked.contains($0.id))
            }
        case .distance:
            return try await useCases.findNearby(limit: 50).map { near in
                RestaurantRow(
                    near.restaurant,
                    metres: near.metres,
                    isFavourite: liked.contains(near.restaurant.id)
                )
            }
        }
    }

    private func mark(_ id: RestaurantID, _ isFavourite: Bool) {
        guard var rows = content.value, let index = rows.firstIndex(where: { $0.id == id }) else {
            return
        }
        rows[index].isFavourite = isFavourite
        content = .shown(rows)
    }

    private func fail(_ error: DomainError) {
        guard let failure = ScreenFailure(error) else { return }
        if content.value == nil {
            content = .failed(failure)
        } else {
            notice = failure
        }
    }
}
