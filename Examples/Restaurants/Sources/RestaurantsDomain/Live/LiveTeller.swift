/// Merges three sources into one sequence of events.
///
/// It delivers nothing before all sources have sent their initial state. A source waits until its events were received,
/// so that a slow receiver slows the sources and no queue grows.
actor LiveTeller {
    enum Source: Hashable {
        case restaurants
        case favourites
        case ratings
    }

    // Synchronous, so that no other event can overtake one that is being received.
    private let receive: @Sendable (LiveEvent) -> WatchRestaurants.Wish
    private var counts: [Source: Int] = [:]
    private var hasBegun = false
    private var early: [LiveEvent] = []
    private var wish = WatchRestaurants.Wish.more

    init(_ receive: @escaping @Sendable (LiveEvent) -> WatchRestaurants.Wish) {
        self.receive = receive
    }

    func begin(_ source: Source, count: Int) -> WatchRestaurants.Wish {
        counts[source] = count
        if !hasBegun, let restaurants = counts[.restaurants],
            let favourites = counts[.favourites], let ratings = counts[.ratings]
        {
            hasBegun = true
            hand(.began(restaurants: restaurants, favourites: favourites, ratings: ratings))
            for event in early { hand(event) }
            early = []
        }
        return wish
    }

    func tell(_ events: [LiveEvent]) -> WatchRestaurants.Wish {
        guard hasBegun else {
            early += events
            return .more
        }
        for event in events { hand(event) }
        return wish
    }

    /// No event is delivered after the receiver has stopped.
    private func hand(_ event: LiveEvent) {
        guard wish == .more else { return }
        wish = receive(event)
    }
}
