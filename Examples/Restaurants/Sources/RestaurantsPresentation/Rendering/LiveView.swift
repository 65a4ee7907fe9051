internal import RestaurantsDomain

/// A line for each live event.
enum LiveView {
    static func render(_ event: LiveEvent, for user: UserID, _ style: Style) -> String {
        switch event {
        case .began(let restaurants, let favourites, let ratings):
            style.faint(
                "Watching for \(user): \(restaurants) restaurants, \(favourites) favourites, "
                    + "\(ratings) ratings."
            )
        case .favourited(let name): "\(style.red("♥")) \(user) likes \(text(name))"
        case .unfavourited(let name): "\(style.faint("♡")) \(user) no longer likes \(text(name))"
        case .rated(let name, let stars):
            "\(style.yellow(GradeText.stars(stars))) \(user) rates \(text(name))"
        case .unrated(let name): "☆ \(user) no longer rates \(text(name))"
        case .added(let name): "\(style.green("+")) new: \(text(name))"
        case .changed(let name): "~ changed: \(text(name))"
        case .removed(let name): "- gone: \(text(name))"
        case .many(let added, let changed, let removed):
            "~ restaurants: \(added) new, \(changed) changed, \(removed) gone"
        }
    }

    private static func text(_ name: RestaurantName) -> String {
        name.name.map { "\($0) (\(name.id))" } ?? "\(name.id)"
    }
}
