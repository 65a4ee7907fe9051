public import RestaurantsDomain
internal import Synchronization

/// Runs commands and shows their results.
public struct CommandRunner: Sendable {
    private let useCases: UseCases
    private let screen: Screen
    private let password: @Sendable () -> String?

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - useCases: The use cases of the app.
    ///   - screen: The output.
    ///   - password: Asks for the password of a user who signs in; nil if none is entered.
    public init(
        _ useCases: UseCases,
        on screen: Screen,
        password: @escaping @Sendable () -> String? = { nil }
    ) {
        self.useCases = useCases
        self.screen = screen
        self.password = password
    }

    /// Runs a command for a user.
    ///
    /// Usage records only the command's name, and nothing for commands about usage.
    public func run(_ command: Command, as user: UserID) async throws(DomainError) {
        if ![.help, .usage, .consent(true), .consent(false)].contains(command) {
            useCases.usage.note(command.name)
        }
        switch command {
        case .help:
            screen.show(Help.text)
        case .refresh:
            screen.show(RefreshView.render(try await useCases.refresh(), screen.style))
        case .list(let filter):
            let found = try await useCases.list(filter)
            screen.show(RestaurantListView.render(found, limit: filter.limit, screen))
        case .search(let words):
            let found = try await useCases.search(words)
            screen.show(RestaurantListView.render(found, searchedFor: words, screen))
        case .near(let text, let limit):
            let place = try text.map { text throws(DomainError) in try Coordinate(text) }
            let found = try await useCases.findNearby(around: place, limit: limit)
            screen.show(RestaurantListView.render(found, screen))
        case .show(let texts):
            let ids = try texts.map { text throws(DomainError) in try RestaurantID(text) }
            let details = try await useCases.show(ids, for: user)
            let views = details.map { RestaurantDetailView.render($0, screen) }
            screen.show(views.joined(separator: "\n\n"))
        case .favourite(let text):
            let restaurant = try await useCases.toggleFavourite.add(RestaurantID(text), for: user)
            screen.show(ChoiceView.favourited(restaurant, by: user, screen.style))
        case .unfavourite(let text):
            let id = try RestaurantID(text)
            try await useCases.toggleFavourite.remove(id, for: user)
            screen.show(ChoiceView.unfavourited(id, by: user, screen.style))
        case .favourites:
            let entries = try await useCases.listFavourites(for: user)
            screen.show(FavouriteListView.render(entries, of: user, screen))
        case .rate(let text, let stars):
            let given = try await useCases.rate(RestaurantID(text), stars: stars, for: user)
            screen.show(
                ChoiceView.rated(given.restaurant, given.rating.stars, by: user, screen.style)
            )
        case .watch(let limit):
            try await watch(as: user, limit: limit)
        case .pending(let decision):
            switch decision {
            case .retry(let id): try await useCases.listPending.retry(id, for: user)
            case .discard(let id): try await useCases.listPending.discard(id, for: user)
            case nil: break
            }
            let entries = try await useCases.listPending(for: user)
            screen.show(PendingView.render(entries, of: user, screen))
        case .login(let email):
            let signedIn = try await useCases.signIn(email, password: password())
            screen.show(AccountView.signedIn(signedIn))
        case .logout:
            screen.show(AccountView.signedOut(try await useCases.signOut()))
        case .whoami:
            screen.show(AccountView.render(try await useCases.showCurrentUser()))
        case .consent(let isAgreed):
            screen.show(UsageView.render(try await useCases.usage.decide(isAgreed)))
        case .usage:
            screen.show(UsageView.render(try await useCases.usage()))
        }
    }

    private func watch(as user: UserID, limit: Int?) async throws(DomainError) {
        let told = EventCount()
        try await useCases.watch(for: user) { event in
            screen.show(LiveView.render(event, for: user, screen.style))
            if case .began = event { return .more }
            return told.next() == limit ? .enough : .more
        }
    }
}

private final class EventCount: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
