public import Observation
public import RestaurantsDomain

/// The user's favourites.
@MainActor
@Observable
public final class FavouritesModel {
    /// The favourites by name; those whose restaurant no longer exists come last.
    public private(set) var content = ScreenContent<[FavouriteEntry]>.loading
    /// The failure of a removal.
    public private(set) var notice: ScreenFailure?

    private let session: SessionModel
    private var useCases: UseCases { session.useCases }

    /// Creates the favourites of the signed-in user.
    public init(_ session: SessionModel) {
        self.session = session
    }

    /// Loads the favourites.
    public func load() async {
        if case .failed = content { content = .loading }
        do throws(DomainError) {
            content = .list(try await useCases.listFavourites(for: session.userID))
        } catch {
            guard let failure = ScreenFailure(error) else { return }
            if content.value == nil { content = .failed(failure) } else { notice = failure }
        }
    }

    /// Shows the favourites and updates them after each change from any source, until it is canceled.
    public func follow() async {
        await load()
        let user = session.userID
        let (changes, teller) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup { group in
            group.addTask { [watch = useCases.watch] in
                // If the updates fail, the shown content stays.
                try? await watch(for: user) { event in
                    if event.isOfFavourites { teller.yield() }
                    return .more
                }
                teller.finish()
            }
            for await _ in changes { await load() }
            group.cancelAll()
        }
    }

    /// Removes a favourite, which reappears on the screen if that fails.
    public func remove(_ id: RestaurantID) async {
        guard let before = content.value else { return }
        content = .list(before.filter { $0.favourite.restaurant != id })
        let toggle = FavouriteToggle(useCase: useCases.toggleFavourite)
        if let error = await toggle.set(false, id, for: session.userID) {
            content = .list(before)
            notice = ScreenFailure(error)
        }
    }

    /// Removes the notice from the screen.
    public func dismissNotice() { notice = nil }
}

extension LiveEvent {
    /// Whether the event changes the list of favourites.
    fileprivate var isOfFavourites: Bool {
        switch self {
        case .began, .added: false
        case .favourited, .unfavourited, .rated, .unrated, .changed, .removed, .many: true
        }
    }
}
