internal import RestaurantsDomain

/// A user's latest choice.
enum ChoiceView {
    static func favourited(_ restaurant: Restaurant, by user: UserID, _ style: Style) -> String {
        "\(style.red("♥")) \(restaurant.name) is a favourite of \(user)."
    }

    static func unfavourited(_ id: RestaurantID, by user: UserID, _ style: Style) -> String {
        "\(style.faint("♡")) \(id) is not a favourite of \(user)."
    }

    static func rated(
        _ restaurant: Restaurant,
        _ stars: Stars,
        by user: UserID,
        _ style: Style
    ) -> String {
        "\(style.yellow(GradeText.stars(stars))) for \(restaurant.name), given by \(user)."
    }
}
