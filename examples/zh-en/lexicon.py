"""The words of the corpus: people, places, things, actions, feelings, with the forms English needs.

Every word is a record of how it stands in Chinese and in English. Chinese is kept as a list of
words, so that it is known where a word ends although the text has no spaces.
SPDX-License-Identifier: MIT
"""
from collections import namedtuple

# Person: zh words; subject and object form; agreement ('I', 's' third person singular, 'p' plural
# and you); weight: how much likelier than others it is chosen.
Person = namedtuple("Person", "zh subject object agree weight")
Verb = namedtuple("Verb", "zh base third past ing")
# Action: a verb with its object: `one` where a single occasion is meant, `many` for habits and
# likings.
# uses: h habit, n now, e an occasion in the past or to come, w want to, l like to, k know how to.
Action = namedtuple("Action", "verb zh one many uses")
Noun = namedtuple("Noun", "zh measure one many looks")
Adjective = namedtuple("Adjective", "zh en")


def words(line):
    return line.split()


def rows(text):
    return [[field.strip() for field in line.split("|")] for line in text.strip().splitlines()]


# ---- people ------------------------------------------------------------------------------------

PRONOUNS = [Person([zh], subject, obj, agree, 8) for zh, subject, obj, agree in rows("""
我 | I | me | I
你 | you | you | p
他 | he | him | s
她 | she | her | s
我们 | we | us | p
他们 | they | them | p
""")]

NAMES = [Person([zh], en, en, "s", 3) for zh, en in rows("""
小明 | Xiaoming
小红 | Xiaohong
汤姆 | Tom
玛丽 | Mary
安娜 | Anna
大卫 | David
李先生 | Mr Li
王女士 | Ms Wang
张医生 | Dr Zhang
""")]

POSSESSORS = rows("""
我 | my
你 | your
他 | his
她 | her
我们 | our
""")

FAMILY = rows("""
妈妈 | mother
爸爸 | father
哥哥 | brother
妹妹 | sister
爷爷 | grandfather
奶奶 | grandmother
""")

SOCIAL = rows("""
朋友 | friend
老师 | teacher
同学 | classmate
邻居 | neighbour
""")

OTHERS = [Person(words(zh), en, en, agree, 2) for zh, en, agree in rows("""
老师 | the teacher | s
医生 | the doctor | s
孩子们 | the children | p
学生们 | the students | p
这个 女孩 | this girl | s
那个 男孩 | that boy | s
这个 女人 | this woman | s
那个 男人 | that man | s
""")]

COUPLES = [Person(words(zh), en, en, "p", 2) for zh, en in rows("""
汤姆 和 玛丽 | Tom and Mary
小明 和 小红 | Xiaoming and Xiaohong
安娜 和 大卫 | Anna and David
大卫 和 汤姆 | David and Tom
小红 和 安娜 | Xiaohong and Anna
""")]


def owned(weight=1):
    """my mother ... (no 的 in Chinese, and not with 我们), then our friend ... (with 的)."""
    for zh, en in POSSESSORS:
        for kin_zh, kin_en in FAMILY if en != "our" else []:
            name = f"{en} {kin_en}"
            yield Person([zh, kin_zh], name, name, "s", weight)
        for kin_zh, kin_en in SOCIAL:
            name = f"{en} {kin_en}"
            yield Person([zh, "的", kin_zh], name, name, "s", weight)


PEOPLE = PRONOUNS + NAMES + list(owned()) + OTHERS + COUPLES
# Those of whom one may say what they do for a living, or which country they are from.
CITIZENS = PRONOUNS + NAMES + [p for p in owned() if "老师" not in p.zh] + COUPLES

# ---- places ------------------------------------------------------------------------------------

COUNTRIES = rows("""
中国 | China | Chinese
法国 | France | French
日本 | Japan | Japanese
英国 | Britain | British
德国 | Germany | German
美国 | America | American
加拿大 | Canada | Canadian
意大利 | Italy | Italian
""")

CITIES = rows("""
北京 | Beijing
上海 | Shanghai
广州 | Guangzhou
成都 | Chengdu
巴黎 | Paris
伦敦 | London
东京 | Tokyo
纽约 | New York
""")

# zh | to go there | to be there
SPOTS = rows("""
学校 | to school | at school
医院 | to the hospital | at the hospital
公园 | to the park | in the park
商店 | to the shop | in the shop
图书馆 | to the library | in the library
车站 | to the station | at the station
机场 | to the airport | at the airport
""")

LANDS = [(zh, en) for zh, en, _ in COUNTRIES] + [(zh, en) for zh, en in CITIES]

# ---- what one loves, likes and does ------------------------------------------------------------

LIKED = rows("""
音乐 | music
茶 | tea
咖啡 | coffee
牛奶 | milk
猫 | cats
狗 | dogs
花 | flowers
书 | books
电影 | films
足球 | football
篮球 | basketball
数学 | maths
历史 | history
中文 | Chinese
英文 | English
大海 | the sea
山 | mountains
雪 | snow
春天 | spring
夏天 | summer
秋天 | autumn
冬天 | winter
苹果 | apples
面条 | noodles
米饭 | rice
鱼 | fish
""")

EAT = Verb("吃", "eat", "eats", "ate", "eating")
DRINK = Verb("喝", "drink", "drinks", "drank", "drinking")
READ = Verb("看", "read", "reads", "read", "reading")
WATCH = Verb("看", "watch", "watches", "watched", "watching")
HEAR = Verb("听", "listen to", "listens to", "listened to", "listening to")
STUDY = Verb("学", "study", "studies", "studied", "studying")
SPEAK = Verb("说", "speak", "speaks", "spoke", "speaking")
WRITE = Verb("写", "write", "writes", "wrote", "writing")
BUY = Verb("买", "buy", "buys", "bought", "buying")
KICK = Verb("踢", "play", "plays", "played", "playing")
PLAY = Verb("打", "play", "plays", "played", "playing")
PLUCK = Verb("弹", "play", "plays", "played", "playing")
WASH = Verb("洗", "wash", "washes", "washed", "washing")
SING = Verb("唱歌", "sing", "sings", "sang", "singing")
DANCE = Verb("跳舞", "dance", "dances", "danced", "dancing")
SWIM = Verb("游泳", "swim", "swims", "swam", "swimming")
RUN = Verb("跑步", "run", "runs", "ran", "running")
COOK = Verb("做饭", "cook", "cooks", "cooked", "cooking")
WORK = Verb("工作", "work", "works", "worked", "working")
DRIVE = Verb("开车", "drive", "drives", "drove", "driving")
PAINT = Verb("画画", "paint", "paints", "painted", "painting")

ACTIONS = [
    Action(EAT, "米饭", "rice", "rice", "hnewl"),
    Action(EAT, "面条", "noodles", "noodles", "hnewl"),
    Action(EAT, "鱼", "fish", "fish", "hnewl"),
    Action(EAT, "苹果", "an apple", "apples", "hnewl"),
    Action(EAT, "面包", "bread", "bread", "hnewl"),
    Action(DRINK, "茶", "tea", "tea", "hnewl"),
    Action(DRINK, "咖啡", "coffee", "coffee", "hnewl"),
    Action(DRINK, "牛奶", "milk", "milk", "hnewl"),
    Action(DRINK, "水", "water", "water", "hnew"),
    Action(READ, "书", "a book", "books", "hnewl"),
    Action(WATCH, "电影", "a film", "films", "hnewl"),
    Action(WATCH, "电视", "television", "television", "hnewl"),
    Action(HEAR, "音乐", "music", "music", "hnewl"),
    Action(STUDY, "中文", "Chinese", "Chinese", "hnewl"),
    Action(STUDY, "英文", "English", "English", "hnewl"),
    Action(STUDY, "数学", "maths", "maths", "hnewl"),
    Action(STUDY, "历史", "history", "history", "hnewl"),
    Action(SPEAK, "中文", "Chinese", "Chinese", "k"),
    Action(SPEAK, "英文", "English", "English", "k"),
    Action(WRITE, "信", "a letter", "letters", "hnewl"),
    Action(BUY, "花", "flowers", "flowers", "hnewl"),
    Action(BUY, "衣服", "clothes", "clothes", "newl"),
    Action(BUY, "菜", "vegetables", "vegetables", "hnew"),
    Action(WASH, "衣服", "clothes", "clothes", "hne"),
    Action(KICK, "足球", "football", "football", "hnewlk"),
    Action(PLAY, "篮球", "basketball", "basketball", "hnewlk"),
    Action(PLUCK, "钢琴", "the piano", "the piano", "hnewlk"),
    Action(SING, "", "", "", "hnewlk"),
    Action(DANCE, "", "", "", "hnewlk"),
    Action(SWIM, "", "", "", "hnewlk"),
    Action(RUN, "", "", "", "hnewl"),
    Action(COOK, "", "", "", "hnewlk"),
    Action(WORK, "", "", "", "hnew"),
    Action(DRIVE, "", "", "", "hnelk"),
    Action(PAINT, "", "", "", "hnewlk"),
]

# ---- things one counts -------------------------------------------------------------------------

NUMBERS = rows("""
一 | a
两 | two
三 | three
四 | four
五 | five
六 | six
七 | seven
八 | eight
九 | nine
十 | ten
""")

# The last field: which of LOOKS can be said of it.
THINGS = [Noun(*row) for row in rows("""
书 | 本 | book | books | noec
猫 | 只 | cat | cats | bsl
狗 | 只 | dog | dogs | bsl
鸟 | 只 | bird | birds | bsl
车 | 辆 | car | cars | bsnoecl
自行车 | 辆 | bicycle | bicycles | bsnoecl
桌子 | 张 | table | tables | bsnoecl
票 | 张 | ticket | tickets | ec
椅子 | 把 | chair | chairs | bsnoecl
伞 | 把 | umbrella | umbrellas | bsnoecl
花 | 朵 | flower | flowers | bsecl
杯子 | 个 | cup | cups | bsnoecl
苹果 | 个 | apple | apples | bsec
手机 | 部 | phone | phones | bsnoec
电脑 | 台 | computer | computers | bsnoec
""")]
FOODS = [Noun(*row) for row in rows("""
苹果 | 个 | apple | apples |
鸡蛋 | 个 | egg | eggs |
面包 | 片 | slice of bread | slices of bread |
""")]
DRINKS = [Noun(*row) for row in rows("""
茶 | 杯 | cup of tea | cups of tea |
咖啡 | 杯 | cup of coffee | cups of coffee |
牛奶 | 杯 | cup of milk | cups of milk |
""")]

# ---- how one feels, what one is ----------------------------------------------------------------

FEELINGS = [Adjective(*row) for row in rows("""
高兴 | happy
难过 | sad
累 | tired
忙 | busy
饿 | hungry
渴 | thirsty
生气 | angry
紧张 | nervous
""")]
TRAITS = [Adjective(*row) for row in rows("""
年轻 | young
聪明 | clever
善良 | kind
高 | tall
""")]
LOOKS = {letter: Adjective(zh, en) for letter, zh, en in rows("""
b | 大 | big
s | 小 | small
n | 新 | new
o | 旧 | old
e | 贵 | expensive
c | 便宜 | cheap
l | 漂亮 | beautiful
""")}
WEATHER = [Adjective(*row) for row in rows("""
冷 | cold
热 | hot
""")]

JOBS = rows("""
老师 | teacher
医生 | doctor
学生 | student
护士 | nurse
司机 | driver
工人 | worker
作家 | writer
歌手 | singer
""")

# ---- when --------------------------------------------------------------------------------------

HABIT = rows("""
每天 | every day
早上 | in the morning
晚上 | in the evening
周末 | at the weekend
""")
PAST = rows("""
昨天 | yesterday
上周 | last week
去年 | last year
""")
FUTURE = rows("""
明天 | tomorrow
下周 | next week
明年 | next year
""")
HOURS = [(zh, en if zh != "一" else "one") for zh, en in NUMBERS]
