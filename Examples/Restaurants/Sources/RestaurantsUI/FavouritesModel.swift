public import Observation
public import RestaurantsDomain

/// The user's favourites.
@MainActor
@Observable
public final class FavouritesModel {
    /// The favourites by name; those whose restaurant is gone come last.
    public private(set) var content = ScreenContent<[FavouriteEntry]>.loading
    /// A removal that was refused.
    public private(set) var notice: ScreenFailure?

    private let session: SessionModel
    private var useCases: UseCases { session.useCases }

    /// Creates the favourites of whoever is signed in.
    public init(_ session: SessionModel) {
        self.session = session
    }

    /// Shows the favourites.
    public func load() async {
        if case .failed = content { content = .loading }
        do throws(DomainError) {
            content = .list(try await useCases.listFavourites(for: session.userID))
        } catch {
            guard let failure = ScreenFailure(error) else { return }
            if content.value == nil { content = .failed(failure) } else { notice = failure }
        }
    }

    /// Shows the favourites, and again after each change, whoever makes it, until it is cancelled.
    public func follow() async {
        await load()
        let user = session.userID
        let (changes, teller) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup { group in
            group.addTask { [watch = useCases.watch] in
                // When it can no longer be followed, what is shown stays.
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

    /// Ends that a restaurant is a favourite; it comes back on the screen if that is refused.
    public func remove(_ id: RestaurantID) async {
        guard let before = content.value else { return }
        content = .list(before.filter { $0.favourite.restaurant != id })
        let toggle = FavouriteToggle(useCase: useCases.toggleFavourite)
        if let error = await toggle.set(false, id, for: session.userID) {
            content = .list(before)
            notice = ScreenFailure(error)
        }
    }

    /// Takes the notice off the screen.
    public func dismissNotice() { notice = nil }
}

extension LiveEvent {
    /// Whether a list of favourites looks different after it.
    fileprivate var isOfFavourites: Bool {
        switch self {
        case .began, .added: false
        case .favourited, .unfavourited, .rated, .unrated, .changed, .removed, .many: true
        }
    }
}
